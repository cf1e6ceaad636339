// Package history has what happened in a run as plain values, and sums it: which children were
// made and what became of them, what they and all other calls cost, and what each operator, model and search brought.
//
// [Read] makes a [Run] of a journal, and [Follow] of one that grows. Package result makes one of a result file. Pages,
// exports, statistics and the sums of result files are made of a Run, so they say the same of it. [Lineage] writes its
// children as a git repository or as lines of JSON.
package history

import (
	"slices"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// A Run is what is known of a run. A file of several runs is one Run, in which each run's arms come after those of the
// runs before it. So is a run that was killed and went on, without the time in which no process ran.
type Run struct {
	Header  journal.Fingerprint // what decides the run, as the program says that made it
	Given   journal.Fingerprint // what evolve.Run was given; of several runs the last
	Models  []llm.Model         // that its budget names
	Command string              // that repeats it, as its last process told; "" if it did not
	Clock   Clock

	Runs      int // begun in the file
	FirstArm  int // of the run that began last, in Arms
	Arms      []Arm
	Rounds    []Round // in the order of draws
	Children  []Child // in the order in which they were taken in; one that was made again keeps its index
	Best      []int   // rows of the best children, best first, at most 20: of equal programs the first
	Endpoints []Endpoint
	Notes     []*Note // what befell it; messages that are equal are one

	Tally        // of all calls that ended, with the cost of lost ones
	Outside Cost // of those among them that no round made: an initial program may be scored by a model
	Lost    int  // attempts that were under way when a process was killed
	Flying  int  // calls under way
	Evaluations
	Budget *books.Ledger // the last that was told of what is spent and set aside; nil for none

	Ending

	b *builder // that made it
}

// Evaluations are those that were made, without those that were remembered.
type Evaluations struct {
	Evaluated int
	Tuned     int   // made by tuners; they are not in Evaluated
	EvalTime  int64 // that Evaluated took, in nanoseconds
}

// An Ending is how a run ended, as far as it has.
type Ending struct {
	Stop  string // as evolve.Stop has it; "" while it goes on, and in files that do not say
	Limit string // that ended it
	Why   string // the error that ended it
}

// An Arm is one search.
type Arm struct {
	Number int     // in its run, from 0
	Run    int     // of the file, from 1
	Seed   *uint32 // nil if it does not say
	Start  Start   // what it began with
	course         // of its children and its start
	Steps  int     // that ended or are under way

	settled Totals      // of its children, but for those of pulls that are not over; Cost has the calls of its pulls
	born    map[int]int // rows by ID
	draws   int         // of it until now
}

// A Start is the program that a search begins with.
type Start struct {
	Score
	Known   bool
	Program string // its key
	Reason  string // why it has no score
	Stamp   int64  // of its record, in milliseconds since 1970
}

// A Score is a score, if there is one.
type Score struct {
	Value float64
	Valid bool
}

// Better reports whether s is strictly better than t, as evolve has it: a valid one is better than none.
func (s Score) Better(t Score) bool { return s.Valid && (!t.Valid || s.Value > t.Value) }

// A Round is a pull that was drawn.
type Round struct {
	Arm    int // in Run.Arms
	Pull   int // its number in its run, from 0
	Step   int // draws of its arm until then
	Prob   float64
	Calls  int     // that it was granted
	Reward float64 // that was reported
	Over   bool    // its reward was reported
	Best   float64 // score of the run when it ended
	Begin  int64   // milliseconds, as Child.Time
	End    int64

	Answered int     // calls that brought an answer: its children's and others
	Cost     Cost    // of all its calls
	Score    float64 // the best of its search when it ended
	Seconds  float64 // that it took: of a journal those between draw and report in which a process ran
}

// A Child is one proposal and what became of it.
type Child struct {
	Arm   int // in Run.Arms
	Round int // in Run.Rounds
	Step  int // of its search, from 1
	Index int // in its step, from 0
	// Proposal is what was told of it. Labels are not to be changed.
	books.Proposal
	Model   string // that was asked last; "" if none was, or attempts name none
	Program string // its key; "" for none

	Cost     Cost  // of its own call, or of all calls of its session
	Spent    Spent // by the run until then
	Time     int64 // milliseconds since the run began, without those in which no process ran
	Stamp    int64 // of its record, in milliseconds since 1970
	Record   int   // the number of its record; if it was made again, of the first one since
	Improved bool  // better than the best of its search before its step
	Gone     bool  // its step was cut short, and the run went on and has not made it again
}

func (c *Child) score() Score { return Score{c.Proposal.Score, c.Valid} }

// Spent is what a run has spent.
type Spent struct {
	Calls  int // that brought an answer
	Tokens int64
	FLOPs  float64
	Money  float64
}

// A State says what became of a child.
type State = books.State

// PlainRewrite is what made a child that names no operator.
const PlainRewrite = "rewrite"

// BestScore returns the best score of the run, and the row that has it: -1 for a program that a search began with.
func (r *Run) BestScore() (best Score, row int) {
	for i := range r.Arms {
		if start := r.Arms[i].Start.Score; start.Better(best) {
			best = start
		}
	}
	if len(r.Best) > 0 {
		if is := r.Children[r.Best[0]].score(); is.Better(best) {
			return is, r.Best[0]
		}
	}
	return best, -1
}

// Line returns the rows that led to a child: its first parent, the first parent of that, and so on, the oldest first
// and the child last, at most so many of the last ones.
func (r *Run) Line(row, most int) (line []int) {
	for len(line) < most {
		line = append(line, row)
		parent, known := r.parent(&r.Children[row])
		if !known || parent < 0 || parent >= row { // a journal written by hand must not lead in a circle
			break
		}
		row = parent
	}
	slices.Reverse(line)
	return line
}

// parentScore returns what the program scored that a child was made from first, as far as that is known.
func (r *Run) parentScore(c *Child) Score {
	switch row, known := r.parent(c); {
	case !known:
		return Score{}
	case row < 0:
		return r.Arms[c.Arm].Start.Score
	default:
		return r.Children[row].score()
	}
}

// parent returns the row of a child's first parent, -1 if that is what its search began with, and false if it is not
// known.
func (r *Run) parent(c *Child) (row int, known bool) {
	switch {
	case len(c.Parents) == 0:
		return 0, false
	case c.Parents[0] == 0:
		return -1, true
	}
	row, known = r.Arms[c.Arm].born[c.Parents[0]]
	return row, known
}

// Settled returns the row from which on children may change: the first of a pull that is not over.
func (r *Run) Settled() int {
	first := len(r.Children)
	for row := range r.b.pending {
		first = min(first, row)
	}
	return first
}
