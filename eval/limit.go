package eval

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// Limit returns an Evaluator that has at most n evaluations under way in e. Further ones wait, first come first served.
// An evaluation calls the Queued of its context's [llm.Trace] when it begins to wait, and the function that Queued
// returned when the wait ends, so that a limit on its time need not count the wait. If e is a [Composite], its parts
// are limited. Limit panics if n < 1.
//
// The Evaluator has a method Around(Evaluator) Evaluator, which puts another one under the same limit: at most n
// evaluations are under way in all of them together.
func Limit(e Evaluator, n int) Evaluator {
	if n < 1 {
		panic(fmt.Sprintf("eval: Limit of %d evaluations at once: need at least 1", n))
	}
	return (&limited{n: n, sem: semaphore.NewWeighted(int64(n))}).Around(e)
}

type limited struct {
	e   Evaluator
	n   int
	sem *semaphore.Weighted
}

func (s *limited) Evaluate(ctx context.Context, program string) (Result, error) {
	return s.EvaluateSample(ctx, program, 0)
}

// EvaluateSample waits for a slot.
func (s *limited) EvaluateSample(ctx context.Context, program string, sample int) (Result, error) {
	return within(ctx, s.sem, s.n, s.e, program, sample)
}

// Around returns e under the same limit.
func (s *limited) Around(e Evaluator) Evaluator {
	l := &limited{e, s.n, s.sem}
	if c, ok := e.(Composite); ok {
		return limitedComposite{l, c}
	}
	return l
}

func (s *limited) String() string { return fmt.Sprintf("Limit(%v, %d)", s.e, s.n) }
