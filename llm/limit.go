package llm

import (
	"cmp"
	"container/list"
	"context"
	"fmt"
	"sync"
)

// Limit returns an LLM that has at most n requests in flight at l; further ones wait, first come first served. A
// request whose context ends while it waits, or whose [Trace] drains, is never sent and makes no attempt. Limit panics
// if n < 1.
//
// The LLM has a method Around(LLM) LLM, which puts another model under the same limit: at most n requests are in flight
// at all of them together.
func Limit(l LLM, n int) LLM {
	if n < 1 {
		panic(fmt.Sprintf("llm: Limit of %d requests in flight: need at least 1", n))
	}
	return &limited{l, &slots{n: n, free: n}}
}

type limited struct {
	l LLM
	*slots
}

// slots are shared by the calls of one limit.
type slots struct {
	n int

	mu      sync.Mutex
	free    int       // 0 while calls wait
	waiting list.List // of chan struct{}, each closed when its call gets a slot
}

func (s *limited) Generate(ctx context.Context, req Request) (Reply, error) {
	t := TraceOf(ctx)
	if err := s.acquire(ctx, t); err != nil {
		return Reply{}, fmt.Errorf("llm: waiting for one of %d slots: %w", s.n, err)
	}
	defer func() {
		if s.release() {
			t.Idle()
		}
	}()
	return Send(ctx, s.l, req)
}

// acquire waits for a slot. After an error the call has none.
func (s *slots) acquire(ctx context.Context, t *Trace) error {
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

// enqueue takes a free slot, or joins the queue. ready is closed when the call has a slot.
func (s *slots) enqueue() (ready chan struct{}, turn *list.Element) {
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

// leave leaves the queue. A slot that the call got meanwhile goes to the next.
func (s *slots) leave(ready chan struct{}, turn *list.Element) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-ready:
		s.pass()
	default:
		s.waiting.Remove(turn)
	}
}

// release frees a slot, and reports whether no call waits for it.
func (s *slots) release() (idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pass()
}

// pass gives a slot to the first call in the queue, and reports whether there is none. The caller holds mu.
func (s *slots) pass() (idle bool) {
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

// Around returns l under the same limit.
func (s *limited) Around(l LLM) LLM { return &limited{l, s.slots} }

// Unwrap returns the LLM under the limit.
func (s *limited) Unwrap() LLM { return s.l }

func (s *limited) String() string { return fmt.Sprintf("Limit(%v, %d)", s.l, s.n) }
