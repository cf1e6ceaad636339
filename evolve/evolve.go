// Package evolve searches for better programs. [Evolve] is the whole of it in one line. [Run] brings together searches,
// each an [Arm], and a [bandit.Policy] that decides which of them goes on, under a [Budget]; neither knows the other.
// A search of your own embeds a [Breeder]. [Config.Journal] makes a run durable.
package evolve

import (
	"context"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// Evolve improves the initial program of t until model has answered so many calls, with the defaults: one [Greedy]
// search with at most four calls under way, each retried as [llm.Retry] does. Four at once take 0.4 of the time of one
// by one, for 0.01 to 0.04 of what there is to gain (docs/policies.md). The same answers give the same result. [Run]
// has proposers, several searches, other limits and a journal, and says what the result and the errors are.
func Evolve(ctx context.Context, t task.Task, model llm.LLM, calls int) (*Result, error) {
	g, err := NewGreedy(GreedyConfig{Task: t, LLM: model, N: 4})
	if err != nil {
		return nil, err
	}
	g.LLM = llm.Retry(model, llm.RetryConfig{})
	return Run(ctx, Config{Arms: []Arm{g}, Budget: Budget{Calls: calls}})
}

// An Arm is a search that can be advanced one step at a time. One goroutine at a time calls it.
//
// It has no method that saves its state. A resumed run makes the same steps again and gives them the same
// answers, so the arm comes to the state that it had. What a step asks for must therefore depend on the arm's
// seeds and on the answers that it got, and on nothing else: not on the time, and not on the order of a map.
type Arm interface {
	// Step advances the search by one step and returns its children and its best. Whatever the step asks of a model or
	// an evaluator goes through turn, which keeps it within the run's budget, recalls it from the run's
	// journal, and has it in the result. So [Run] fills in the rest of the Generation.
	//
	// An error means that the search cannot go on: the endpoint is gone, the interpreter is missing, ctx
	// ended. The Generation is valid even then, and holds what was paid for until the error came. An error
	// for which [Refused] is true says that the budget has no room. The run then stops with [StopBudget].
	//
	// A step need not return every error, because the turn saw it. One in which something was abandoned counts as cut
	// short, and one in which the model or the evaluator was gone ends the run, whatever Step returns.
	Step(ctx context.Context, turn *Turn) (Generation, error)
	// Best returns the best candidate so far: before the first step, the initial program, perhaps not yet evaluated.
	Best() eval.Candidate
	// Done reports whether nothing is left to step. It is not called while a Step runs.
	Done() bool
}

// A Sizer is an Arm that says how many model calls a step would like to make. [Run] sets that many aside, as
// far as the budget has them, and [Turn.Calls] says how many the step may make.
//
// For an arm that is not a Sizer nothing is set aside. Its calls find room or are refused one by one. With
// several arms in flight, two such arms can begin steps for which there is room only once.
type Sizer interface {
	Arm
	// Calls returns how many calls the next Step would make, and the same in a resumed run, whose journal has what
	// each draw was granted. It is not called while a Step runs.
	Calls() int
}

// A Starter is an Arm that has something to evaluate before its first step: its initial program. [Run] calls Start
// before the first draw, so that a result has the score of each, also of one that was never drawn.
type Starter interface {
	Arm
	// Start evaluates what the search begins with, unless it has been. An error ends the run.
	Start(ctx context.Context, turn *Turn) error
}

// A claimant is an arm that says how noisy its task is. A [Breeder] is one, and so is what embeds it.
type claimant interface {
	noise() *Noise
	claim(ctx context.Context, turn *Turn, program string, n int) (eval.Result, error)
}

// as returns the first T of arm and of those that it wraps: an arm around another has a method Unwrap() Arm.
func as[T any](arm Arm) (t T, ok bool) {
	for arm != nil && !ok {
		t, ok = arm.(T)
		wrapper, _ := arm.(interface{ Unwrap() Arm })
		if arm = nil; wrapper != nil {
			arm = wrapper.Unwrap()
		}
	}
	return t, ok
}

// noiseOf returns what an arm does about noise, with the defaults; nil if it takes its scores for exact.
func noiseOf(arm Arm) *Noise {
	if c, ok := as[claimant](arm); ok {
		return c.noise()
	}
	return nil
}
