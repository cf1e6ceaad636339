package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A Lineage is which candidates a run made, with their programs, and from which others each was made.
// [Lineage.WriteJSONL] and [Lineage.WriteGit] write it for other tools; docs/reference.md describes the formats.
type Lineage struct {
	// Fingerprint is what decides the run: the fields of the journal's header and those that evolve.Run added.
	Fingerprint journal.Fingerprint
	// Candidates are the initial programs and then the children, in the order of the journal. A candidate stands
	// after its parents.
	Candidates []Candidate
	Runs       int // in the file, of which this is the last
}

// A Candidate is one child of a search, or the program that a search began with, which has ID 0.
type Candidate struct {
	Arm   int // the number of its search, from 0; -1 for an initial program that all arms share
	Pull  int // the draw of its step in the run, from 0; -1 for an initial program
	Step  int // of its arm, from 1; 0 for an initial program
	Index int // in its step, from 0
	// Proposal is what its run told of it. Its Labels are not to be changed.
	books.Proposal
	// Parents are positions in Lineage.Candidates, with the one that it was made from first. Those of the Proposal are IDs.
	Parents []int
	// Unknown are the IDs of parents that the journal does not have, or does not tell apart.
	Unknown []int
	// Program is its text, and Key the SHA-256 by which the journal names it. Both are "" if the reply held no
	// program. In journals of earlier versions a program that was refused before it was evaluated has a key and no
	// text.
	Program, Key string
	Time         time.Time // of its record in the journal

	twin bool // another child of its step has its index
}

// Name returns the candidate's address in its run: "2/7.0" for the child of index 0 in step 7 of arm 2, "2/start" for
// the program that arm 2 began with, "start" for one that all arms began with. A search that breeds twice in a step has
// two children of one index there, and the name of the second ends in its ID: "2/7.0-31".
func (c *Candidate) Name() string {
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

// ReadLineage reads the last run of the journal at path, as [Read] does. The texts of all programs are in memory
// afterwards.
func ReadLineage(path string) (*Lineage, error) {
	texts := map[string]string{}
	var other error
	run, err := read(path, func(r record.Record) {
		if r.Kind == record.Header && r.Version != record.Version {
			other = fmt.Errorf("%w: it has version %d, and this program reads %d", journal.ErrVersion, r.Version, record.Version)
		}
		if r.Kind != record.Program {
			return
		}
		texts[r.Key] = r.Text
		// A program that differs from an earlier one in white space at the end is not evaluated again, and so has no
		// record in journals of earlier versions. What a model repeats of a program mostly lacks the end of the last line.
		if bare := strings.TrimRight(r.Text, " \t\r\n"); bare != r.Text && bare != "" {
			texts[record.KeyOf(bare).String()] = bare
		}
	})
	if err = cmp.Or(other, err); run == nil || other != nil {
		return nil, err
	}
	return run.lineage(texts), err
}

// lineage returns the candidates of the last run of the file. texts are those of programs, by key.
func (r *Run) lineage(texts map[string]string) *Lineage {
	l := &Lineage{Fingerprint: journal.Fingerprint{}, Runs: r.Runs}
	maps.Copy(l.Fingerprint, r.Header)
	maps.Copy(l.Fingerprint, r.Given)
	var children []*Child // without those of steps that were cut short and made again without them
	for i := range r.Children {
		if c := &r.Children[i]; c.Arm >= r.FirstArm && !c.Gone {
			children = append(children, c)
		}
	}
	slices.SortFunc(children, func(a, b *Child) int { return cmp.Compare(a.Record, b.Record) })
	born := map[[2]int][]int{} // positions by arm and ID
	add := func(c Candidate) {
		c.Program = texts[c.Key]
		// A search without a Breeder need not number its children, which then have the initial program's ID.
		if at := [2]int{c.Arm, c.ID}; c.ID > 0 || c.Step == 0 {
			born[at] = append(born[at], len(l.Candidates))
		}
		l.Candidates = append(l.Candidates, c)
	}
	for _, c := range r.initial() {
		add(c)
	}
	seen := map[string]bool{}
	for _, child := range children {
		round := r.Rounds[child.Round]
		c := Candidate{Arm: r.Arms[child.Arm].Number, Pull: round.Pull, Step: round.Step, Index: child.Index,
			Proposal: child.Proposal, Key: child.Program, Time: time.UnixMilli(child.Stamp).UTC()}
		if c.Valid {
			c.Reason = ""
		}
		c.twin = seen[c.Name()]
		seen[c.Name()] = true
		for _, id := range c.Proposal.Parents {
			found := born[[2]int{c.Arm, id}]
			if id == 0 && len(found) == 0 {
				found = born[[2]int{-1, 0}]
			}
			switch {
			case len(found) != 1: // searches of an arm that each count from 1, in journals of earlier versions
				c.Unknown = append(c.Unknown, id)
			case !slices.Contains(c.Parents, found[0]):
				c.Parents = append(c.Parents, found[0])
			}
		}
		slices.Sort(c.Unknown)
		c.Unknown = slices.Compact(c.Unknown)
		add(c)
	}
	return l
}

// initial returns the programs that the arms of the last run began with: one if all arms have the same. Before the first
// draw there may be more to come, and there is none.
func (r *Run) initial() (list []Candidate) {
	shared, drawn := true, false
	for _, a := range r.Arms[r.FirstArm:] {
		drawn = drawn || a.Steps > 0
		if !a.Start.Known {
			continue
		}
		c := Candidate{Arm: a.Number, Pull: -1, Key: a.Start.Program, Time: time.UnixMilli(a.Start.Stamp).UTC(),
			Proposal: books.Proposal{Valid: a.Start.Valid, Score: a.Start.Value}}
		if !c.Valid {
			c.Proposal.Score, c.Reason = 0, a.Start.Reason
		}
		shared = shared && (len(list) == 0 || c.Key == list[0].Key && c.Proposal.Score == list[0].Proposal.Score)
		list = append(list, c)
	}
	switch arms, _ := strconv.Atoi(r.Given["arms"]); {
	case !drawn:
		return nil
	case shared && len(list) > 0 && len(list) == arms:
		list = list[:1]
		list[0].Arm = -1
	}
	return list
}

// Best returns the position of the valid candidate with the highest score, the first of equal ones, or -1 if none is
// valid. Scores are those of the journal's records: a search that scores its members again may think otherwise of them
// later.
func (l *Lineage) Best() int { return l.best(-1) }

// best returns the best of an arm and of what all arms began with, or with -1 of all.
func (l *Lineage) best(arm int) int {
	best := -1
	for i := range l.Candidates {
		c := &l.Candidates[i]
		if c.Valid && (arm < 0 || c.Arm == arm || c.Arm < 0) && (best < 0 || c.Score > l.Candidates[best].Score) {
			best = i
		}
	}
	return best
}

// Line returns the positions of the candidates that led to the one at position i, the oldest first and i last: its
// first parent, the first parent of that, and so on. It returns nil for -1.
func (l *Lineage) Line(i int) (line []int) {
	for i >= 0 {
		line = append(line, i)
		parents := l.Candidates[i].Parents
		if i = -1; len(parents) > 0 {
			i = parents[0]
		}
	}
	slices.Reverse(line)
	return line
}
