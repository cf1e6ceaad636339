package eval

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"
	"sync"
)

// Memo returns an Evaluator that evaluates equal programs once. Programs are equal if their texts
// are, up to white space at the end. It is for deterministic evaluators: where e would have scored a
// program differently the second time, Memo gives the first score again, and nothing in the result
// says so.
//
// Equal programs that are evaluated at the same time share one evaluation, under the context of the
// first caller. If that caller gives up, another takes over with its own; if e fails, all get the
// error. Errors are not remembered. Results are, by a hash of the program, up to 64 MiB of them; then
// the oldest are forgotten.
func Memo(e Evaluator) Evaluator {
	return &memo{e: e, room: memoBytes, results: map[memoKey]Result{}, calls: map[memoKey]*memoCall{}}
}

const memoBytes = 64 << 20

type memo struct {
	e Evaluator

	mu      sync.Mutex
	room    int // bytes that results may still take
	results map[memoKey]Result
	order   []memoKey // of results, oldest first
	calls   map[memoKey]*memoCall
}

type memoKey [sha256.Size]byte

// A memoCall is an evaluation under way. What it found out is set before done is closed.
type memoCall struct {
	done   chan struct{}
	result Result
	err    error
	again  bool // the caller gave up, and another must try
}

func (m *memo) Evaluate(ctx context.Context, program string) (Result, error) {
	key := memoKey(sha256.Sum256([]byte(strings.TrimRight(program, " \t\r\n"))))
	for {
		r, known, call, first := m.join(key)
		switch {
		case known:
			return r.clone(), nil
		case first:
			m.lead(ctx, key, call, program)
			return call.result.clone(), call.err
		}
		select {
		case <-call.done:
			if !call.again {
				return call.result.clone(), call.err
			}
		case <-ctx.Done():
			return Result{}, fmt.Errorf("eval: waiting for an equal program: %w", ctx.Err())
		}
	}
}

// join returns the result for key if it is known, and otherwise the call that evaluates it, which is
// the caller's to make if it is the first.
func (m *memo) join(key memoKey) (r Result, known bool, call *memoCall, first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, known = m.results[key]; known {
		return r, true, nil, false
	}
	if call = m.calls[key]; call != nil {
		return Result{}, false, call, false
	}
	call = &memoCall{done: make(chan struct{})}
	m.calls[key] = call
	return Result{}, false, call, true
}

// lead evaluates program for all who joined call.
func (m *memo) lead(ctx context.Context, key memoKey, call *memoCall, program string) {
	call.again = true // unless Evaluate returns: it may panic
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.calls, key)
		if !call.again && call.err == nil {
			m.remember(key, call.result)
		}
		close(call.done)
	}()
	call.result, call.err = m.e.Evaluate(ctx, program)
	call.again = call.err != nil && ctx.Err() != nil
}

// remember keeps r, in the place of older results if need be.
func (m *memo) remember(key memoKey, r Result) {
	m.room -= r.size()
	m.results[key] = r
	m.order = append(m.order, key)
	for m.room < 0 {
		oldest := m.order[0]
		m.order = m.order[1:]
		m.room += m.results[oldest].size()
		delete(m.results, oldest)
	}
}

// size returns about how many bytes it takes to remember r.
func (r Result) size() int {
	n := 256 + len(r.Reason)
	for k := range r.Metrics {
		n += 64 + len(k)
	}
	for k, v := range r.Artifacts {
		n += 64 + len(k) + len(v)
	}
	return n
}

// clone returns a copy of r that shares nothing with it.
func (r Result) clone() Result {
	r.Metrics, r.Artifacts = maps.Clone(r.Metrics), maps.Clone(r.Artifacts)
	return r
}

func (m *memo) String() string { return fmt.Sprintf("Memo(%v)", m.e) }
