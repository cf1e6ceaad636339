package evolve

import (
	"context"

	"github.com/evoalloc/evoalloc/eval"
)

// An Arm is a search that can be advanced one step at a time. One goroutine at a time calls it.
type Arm interface {
	// Step advances the search by one step and returns what it made. Whatever the step asks of a model or
	// an evaluator goes through turn, which keeps it within the run's budget, recalls it from the run's
	// journal, and has it in the result.
	//
	// An error means that the search cannot go on: the endpoint is gone, the interpreter is missing, ctx
	// ended. The Generation is valid even then, and holds what was paid for until the error came. An error
	// for which [Refused] is true says that the budget has no room, and ends the run as that does.
	//
	// A step need not tell of every error: the turn saw it. A step in which a call or an evaluation was
	// given up counts as cut short, and one in which the model or the evaluator was gone ends the run, also
	// if Step returns no error.
	Step(ctx context.Context, turn *Turn) (Generation, error)
	// Best returns the best candidate so far.
	Best() eval.Candidate
	// Done reports that there is nothing left to step.
	Done() bool
}

// A Sizer is an Arm that says how many model calls a step would like to make. [Run] sets so many aside, as
// far as the budget has them, and [Turn.Calls] says how many the step may make. Of other arms nothing is set
// aside, and their calls find room or are refused one by one: with several arms in flight, two of them can then
// begin steps for which there is room only once.
type Sizer interface {
	Arm
	// Calls returns the number of calls that the next Step would make.
	Calls() int
}

// A Starter is an Arm that has something to evaluate before its first step: its initial program. [Run] calls
// Start before the first draw, so that a result has the scores that arms began with, also of arms that were
// never drawn.
type Starter interface {
	Arm
	// Start evaluates what the search begins with, unless it has been. An error ends the run.
	Start(ctx context.Context, turn *Turn) error
}
