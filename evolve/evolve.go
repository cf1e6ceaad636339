// Package evolve searches for better programs. [Evolve] is the whole of it in one line. [Run] brings together searches,
// each an [Arm], and a [bandit.Policy] that decides which of them goes on, under a [Budget]; neither knows the other.
// A search of your own embeds a [Breeder]. [Config.Journal] makes a run durable.
package evolve

import (
	"context"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// Evolve improves the initial program of t until model has answered so many calls, with the defaults: one [Greedy] search
// with at most four calls under way, each retried as [llm.Retry] does. Four children a step take 0.4 of the time of one
// after the other, for 0.01 to 0.04 of what there is to gain (docs/policies.md). Seeds are fixed, so that the same answers
// give the same result. For several proposers or searches, other limits and a journal, see [Run], which also says what the
// result and the errors are.
func Evolve(ctx context.Context, t task.Task, model llm.LLM, calls int) (*Result, error) {
	g, err := NewGreedy(GreedyConfig{Task: t, LLM: model, N: 4})
	if err != nil {
		return nil, err
	}
	g.LLM = llm.Retry(model, llm.RetryConfig{})
	return Run(ctx, Config{Arms: []Arm{g}, Budget: Budget{Calls: calls}})
}
