package eval

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// Limit returns an Evaluator that has at most n evaluations under way in e; further ones wait
// their turn, first come first served, and tell so ([WithQueue]). It panics if n < 1.
func Limit(e Evaluator, n int) Evaluator {
	if n < 1 {
		panic(fmt.Sprintf("eval: Limit of %d evaluations at once: need at least 1", n))
	}
	return &limited{e, n, semaphore.NewWeighted(int64(n))}
}

type limited struct {
	e   Evaluator
	n   int
	sem *semaphore.Weighted
}

func (s *limited) Evaluate(ctx context.Context, program string) (Result, error) {
	served := queued(ctx)
	err := s.sem.Acquire(ctx, 1)
	served()
	if err != nil {
		return Result{}, fmt.Errorf("eval: waiting for one of %d places: %w", s.n, err)
	}
	defer s.sem.Release(1)
	return s.e.Evaluate(ctx, program)
}

func (s *limited) String() string { return fmt.Sprintf("Limit(%v, %d)", s.e, s.n) }

// queueKey is the context's key for who is told of evaluations that wait.
type queueKey struct{}

// WithQueue returns ctx for one evaluation whose [Limit] calls queued when it begins to wait for a place,
// and what that returns when it has one or gives up, so that a limit on its time need not count the
// wait. Both may be called from several goroutines, and must not block.
func WithQueue(ctx context.Context, queued func() (served func())) context.Context {
	return context.WithValue(ctx, queueKey{}, queued)
}

// queued tells whoever wants to know that an evaluation waits, until it calls what is returned.
func queued(ctx context.Context) (served func()) {
	if q, ok := ctx.Value(queueKey{}).(func() func()); ok {
		return q()
	}
	return func() {}
}
