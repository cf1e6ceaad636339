package llm

import (
	"cmp"
	"container/list"
	"context"
	"fmt"
	"sync"
)

// Limit returns an LLM that has at most n requests in flight at l; further ones wait their turn,
// first come first served. A request whose context ends while it waits, or whose [Trace] drains, was
// never sent and makes no attempt. It panics if n < 1.
//
// The LLM has a method Around(LLM) LLM, which returns another model behind the same limit: of all of them together
// at most n requests are in flight.
func Limit(l LLM, n int) LLM {
	if n < 1 {
		panic(fmt.Sprintf("llm: Limit of %d requests in flight: need at least 1", n))
	}
	return &limited{l, &places{n: n, free: n}}
}

type limited struct {
	l LLM
	*places
}

// places are what the calls of one limit share.
type places struct {
	n int

	mu      sync.Mutex
	free    int       // 0 while calls wait
	waiting list.List // of chan struct{}, each closed when its call is given a place
}

func (s *limited) Generate(ctx context.Context, req Request) (Reply, error) {
	t := TraceOf(ctx)
	if err := s.acquire(ctx, t); err != nil {
		return Reply{}, fmt.Errorf("llm: waiting for one of %d places: %w", s.n, err)
	}
	defer func() {
		if s.release() {
			t.Idle()
		}
	}()
	return Send(ctx, s.l, req)
}

// acquire waits for a place. The call has none if it returns an error.
func (s *places) acquire(ctx context.Context, t *Trace) error {
	defer t.Queued()()
	ready, turn := s.enqueue()
	select {
	case <-ready:
	case <-ctx.Done():
	case <-t.Drain:
	}
	err := cmp.Or(ctx.Err(), t.Draining())
	if err != nil {
		s.leave(ready, turn)
	}
	return err
}

// enqueue takes a free place, or waits behind all that came before. ready is closed when there is a place.
func (s *places) enqueue() (ready chan struct{}, turn *list.Element) {
	ready = make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 {
		s.free--
		close(ready)
		return ready, nil
	}
	return ready, s.waiting.PushBack(ready)
}

// leave gives up waiting. A place that the call was given meanwhile goes to the next.
func (s *places) leave(ready chan struct{}, turn *list.Element) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-ready:
		s.pass()
	default:
		s.waiting.Remove(turn)
	}
}

// release gives a place back, and reports whether it is free because no call waits for one.
func (s *places) release() (idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pass()
}

// pass gives a place to the first that waits, if any. The caller holds mu.
func (s *places) pass() (idle bool) {
	next := s.waiting.Front()
	if next == nil {
		s.free++
		return true
	}
	close(s.waiting.Remove(next).(chan struct{}))
	return false
}

// Announces returns true, see the function [Announces].
func (s *limited) Announces() bool { return true }

// Around returns l behind the same limit.
func (s *limited) Around(l LLM) LLM { return &limited{l, s.places} }

// Unwrap returns the LLM behind the limit.
func (s *limited) Unwrap() LLM { return s.l }

func (s *limited) String() string { return fmt.Sprintf("Limit(%v, %d)", s.l, s.n) }
