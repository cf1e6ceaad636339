package llm

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Limit returns an LLM that has at most n requests in flight at l; further ones wait their turn,
// first come first served. A request whose context ends while it waits was never sent and makes
// no attempt. It panics if n < 1.
func Limit(l LLM, n int) LLM {
	if n < 1 {
		panic(fmt.Sprintf("llm: Limit of %d requests in flight: need at least 1", n))
	}
	return &limited{l: l, n: n, sem: semaphore.NewWeighted(int64(n))}
}

type limited struct {
	l       LLM
	n       int
	sem     *semaphore.Weighted
	waiting atomic.Int64 // calls
}

func (s *limited) Generate(ctx context.Context, req Request) (Reply, error) {
	wait, stop := whileWanted(ctx)
	served := queued(ctx)
	s.waiting.Add(1)
	err := s.sem.Acquire(wait, 1)
	s.waiting.Add(-1)
	served()
	stop()
	if gone := cmp.Or(ctx.Err(), Draining(ctx)); gone != nil {
		if err == nil { // a place that the same end made free, before wait heard of it
			s.sem.Release(1)
		}
		err = gone
	}
	if err != nil {
		return Reply{}, fmt.Errorf("llm: waiting for one of %d places: %w", s.n, err)
	}
	defer s.release(ctx)
	if err := announce(ctx, s.l); err != nil {
		return Reply{}, err
	}
	return s.l.Generate(ctx, req)
}

// Announces returns true, see the function [Announces].
func (s *limited) Announces() bool { return true }

func (s *limited) release(ctx context.Context) {
	s.sem.Release(1)
	if s.waiting.Load() == 0 {
		sayIdle(ctx)
	}
}

func (s *limited) String() string { return fmt.Sprintf("Limit(%v, %d)", s.l, s.n) }
