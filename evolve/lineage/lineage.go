// Package lineage reads from a journal which candidates a run made, and from which others each was made. It writes
// that down for other tools: as rows ([Run.WriteJSONL]) and as a git repository ([Run.WriteGit], [Run.WriteTrees]),
// in which a candidate is a commit and its parents are the commit's.
//
//	runs, err := lineage.Read("run.journal")
//	err = runs[0].WriteJSONL(os.Stdout)
//
// The journal may be of a run that is over, was killed, or goes on. docs/reference.md describes the formats.
package lineage

import (
	"fmt"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A Run is what a journal tells of the candidates of one run.
type Run struct {
	// Fingerprint is what decides the run: the fields of the journal's header and those that evolve.Run added.
	Fingerprint journal.Fingerprint
	// Candidates are the initial programs and then the children, in the order of the journal. A candidate stands
	// after its parents.
	Candidates []Candidate
}

// A Candidate is one child of a search, or the program that a search began with.
type Candidate struct {
	// Arm is the number of its search, from 0. It is -1 for an initial program that all arms share.
	Arm int
	// Pull is the number of the draw of its step in the run, from 0. It is -1 for an initial program.
	Pull int
	// Step counts the steps of its arm, from 1. It is 0 for an initial program.
	Step  int
	Index int // in its step, from 0
	// Proposal is what its run told of it. An initial program has ID 0 and no State. Where a journal of an earlier version
	// does not tell the State, it follows from what else is known of the program. The Score is 0 if it is not valid, and
	// the Reason "" if it is, or if the journal does not tell. Labels are not to be changed.
	books.Proposal
	// Parents are positions in Run.Candidates, with the one that it was made from first. Those of the Proposal are IDs.
	Parents []int
	// Unknown are the IDs of parents that the journal does not have, or does not tell apart. In runs that had an allocator
	// within another, the searches of an arm each count their children from 1.
	Unknown []int
	// Program is its text, and Key the SHA-256 by which the journal names it. Both are "" if the reply held no
	// program. In journals of earlier versions a program that was refused before it was evaluated has a key and no
	// text.
	Program, Key string
	Time         time.Time // of its record in the journal, which a child has when its search has taken it in

	twin bool // another child of its step has its index
}

// Name returns the candidate's address in its run: "2/7.0" for the child of index 0 in step 7 of arm 2, "2/start" for
// the program that arm 2 began with, "start" for one that all arms began with. A search that breeds twice in a step has
// two children of one index there, and the name of the second ends in its ID: "2/7.0-31".
func (c Candidate) Name() string {
	switch {
	case c.twin:
		return fmt.Sprintf("%d/%d.%d-%d", c.Arm, c.Step, c.Index, c.ID)
	case c.Step > 0:
		return fmt.Sprintf("%d/%d.%d", c.Arm, c.Step, c.Index)
	case c.Arm >= 0:
		return fmt.Sprintf("%d/start", c.Arm)
	}
	return "start"
}

// initial reports whether the candidate is what a search began with.
func (c Candidate) initial() bool { return c.Step == 0 }

// Best returns the position of the valid candidate with the highest score, the first of equal ones, or -1 if none is
// valid. Scores are those of the journal's records: a search that scores its members again may think otherwise of them
// later.
func (r *Run) Best() int { return r.best(func(Candidate) bool { return true }) }

// bestOf returns the same for one arm, with the program that it began with.
func (r *Run) bestOf(arm int) int {
	return r.best(func(c Candidate) bool { return c.Arm == arm || c.Arm < 0 })
}

func (r *Run) best(of func(Candidate) bool) int {
	best := -1
	for i, c := range r.Candidates {
		if c.Valid && of(c) && (best < 0 || c.Score > r.Candidates[best].Score) {
			best = i
		}
	}
	return best
}

// arms returns the arms that have candidates of their own, in order.
func (r *Run) arms() []int {
	var arms []int
	seen := map[int]bool{-1: true}
	for _, c := range r.Candidates {
		if !seen[c.Arm] {
			seen[c.Arm] = true
			arms = append(arms, c.Arm)
		}
	}
	slices.Sort(arms)
	return arms
}

// Line returns the positions of the candidates that led to the one at position i, the oldest first and i last: its
// first parent, the first parent of that, and so on. It returns nil for -1, so that r.Line(r.Best()) is always the
// champion's line.
func (r *Run) Line(i int) []int {
	var line []int
	for i >= 0 {
		line = append(line, i)
		if parents := r.Candidates[i].Parents; len(parents) > 0 {
			i = parents[0]
		} else {
			i = -1
		}
	}
	slices.Reverse(line)
	return line
}

// Without returns the run without the candidates for which drop is true. The children of such a candidate have its
// parents in its place.
func (r *Run) Without(drop func(Candidate) bool) *Run {
	out := &Run{Fingerprint: r.Fingerprint}
	stands := make([][]int, len(r.Candidates)) // by old position: the new positions that stand for it
	for i, c := range r.Candidates {
		var parents []int
		for _, p := range c.Parents {
			for _, q := range stands[p] {
				if !slices.Contains(parents, q) {
					parents = append(parents, q)
				}
			}
		}
		if drop(c) {
			stands[i] = parents
			continue
		}
		stands[i] = []int{len(out.Candidates)}
		c.Parents = parents
		out.Candidates = append(out.Candidates, c)
	}
	return out
}
