// Package evolve searches for better programs: one greedy search at a time ([Greedy]), or several
// at once with a bandit that decides which gets the next generation ([Run]).
//
// An [Arm] is a search that can be advanced one generation at a time, and knows nothing of bandits;
// a [bandit.Policy] knows nothing of programs. Run brings them together under a [Budget] and gives
// back a [Result], which says why it stopped, what every attempt cost, and the best program.
package evolve

import (
	"context"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
)

// An Arm is a search that can be advanced one generation at a time. One goroutine at a time calls it.
type Arm interface {
	// Step advances the search by one generation and returns it. An error is infrastructure's:
	// a dead endpoint, a missing interpreter, ctx ended. The Generation is valid even then, and
	// holds what was paid for until the error came; the arm is then done. An error for which
	// [Refused] is true says that the budget has no room, and ends the run as that does.
	Step(ctx context.Context) (Generation, error)
	// Best returns the best candidate so far.
	Best() eval.Candidate
	// Done reports that there is nothing left to step.
	Done() bool
}

// A Sizer is an Arm that knows how many model calls a generation takes, and can make do with
// fewer. [Run] asks it for what the budget can still hold; it counts other arms' calls afterwards.
type Sizer interface {
	Arm
	// Calls returns the number of calls that Step makes.
	Calls() int
	// StepN is Step with n calls, 1 ≤ n ≤ Calls().
	StepN(ctx context.Context, n int) (Generation, error)
}

// A Generation is one step of a search: N children of one parent.
type Generation struct {
	Index int // 1 for the first; 0 is the initial program's evaluation
	// Best is Parent unless a child is strictly better; among equal children it is the one of
	// lowest index.
	Parent, Best eval.Candidate
	Children     []Child       // by index; those that were never sent are not among them
	Elapsed      time.Duration // from the start of Step to its end, in the life of the run that saw it
	Partial      bool          // an error, or the end of the run, cut it short
	Limit        string        // the field of the run's Budget that left no room for more children; "" if none did
}

// A Child is one reply of the model and what became of it: no program, an invalid one, or a score.
type Child struct {
	eval.Candidate
	Index    int           // in its generation, from 0
	Seed     uint32        // of its request
	Attempts []llm.Attempt // oldest first; what it cost
	Err      string        // why there is no program or no score; "" otherwise
	// Duplicate says that the program stood before in the run, set by [Run]; it was evaluated only
	// once, unless the search is Noisy.
	Duplicate bool
}

// HasProgram reports whether the reply held a program.
func (c Child) HasProgram() bool { return c.Program != "" }

// scored reports whether evaluation said anything about the child.
func (c Child) scored() bool { return c.HasProgram() && c.Err == "" }

// Class returns what the child's call counts as in a budget: the class of its last attempt. A reply
// that tells of no attempts counts as one that brought an answer.
func (c Child) Class() llm.Class { return classOf(c.Attempts) }

// classOf returns the class of a call that made these attempts.
func classOf(attempts []llm.Attempt) llm.Class {
	if len(attempts) == 0 {
		return llm.Real
	}
	return attempts[len(attempts)-1].Status.Class()
}
