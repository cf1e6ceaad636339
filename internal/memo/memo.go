// Package memo remembers computed values by key. Simultaneous callers with one key share one computation.
package memo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
)

// A Key identifies a computation.
type Key [sha256.Size]byte

// A Table remembers as many values as fit in its room, by key, and forgets the oldest first. It is safe for concurrent
// use. Make one with [New].
type Table[V any] struct {
	// Keep returns the part of a forgotten value that stays, without using room; nil means that nothing stays. Set Keep
	// before the first Do.
	Keep func(V) V

	size func(V) int

	mu     sync.Mutex
	room   int // bytes that values may still take
	values map[Key]V
	order  []Key // of values, oldest first
	calls  map[Key]*call[V]
}

// A call is a computation under way. Its result is set before done is closed.
type call[V any] struct {
	done  chan struct{}
	value V
	err   error
	again bool // whether the leader gave up and another caller must compute
}

// New returns an empty table with room for so many bytes, of which a value takes size(v).
func New[V any](room int, size func(V) int) *Table[V] {
	return &Table[V]{size: size, room: room, values: make(map[Key]V), calls: make(map[Key]*call[V])}
}

// Do returns the value for key: the remembered one, or the result of compute. Simultaneous callers with one key share
// one computation, under the context of the first. If that context ends, the next caller takes over with its own. An
// error is returned to all callers who share it, and is not remembered, because its cause may be temporary.
func (t *Table[V]) Do(ctx context.Context, key Key, compute func() (V, error)) (V, error) {
	for {
		v, known, c, first := t.join(key)
		switch {
		case known:
			return v, nil
		case first:
			t.lead(ctx, key, c, compute)
			return c.value, c.err
		}
		select {
		case <-c.done:
			if !c.again {
				return c.value, c.err
			}
		case <-ctx.Done():
			return v, fmt.Errorf("waiting for the same result: %w", ctx.Err())
		}
	}
}

// join returns the value for key if it is known, and otherwise the call that computes it. The first caller must lead
// the call.
func (t *Table[V]) join(key Key) (v V, known bool, c *call[V], first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v, known = t.values[key]; known {
		return v, true, nil, false
	}
	if c = t.calls[key]; c != nil {
		return v, false, c, false
	}
	c = &call[V]{done: make(chan struct{})}
	t.calls[key] = c
	return v, false, c, true
}

// lead computes the value for all callers that joined c.
func (t *Table[V]) lead(ctx context.Context, key Key, c *call[V], compute func() (V, error)) {
	c.again = true // unless compute returns: it may panic
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.calls, key)
		if !c.again && c.err == nil {
			t.remember(key, c.value)
		}
		close(c.done)
	}()
	c.value, c.err = compute()
	c.again = c.err != nil && ctx.Err() != nil
}

// remember keeps v, and forgets older values if necessary.
func (t *Table[V]) remember(key Key, v V) {
	t.room -= t.size(v)
	t.values[key] = v
	t.order = append(t.order, key)
	for t.room < 0 {
		oldest := t.order[0]
		t.order = t.order[1:]
		t.room += t.size(t.values[oldest])
		if t.Keep != nil {
			t.values[oldest] = t.Keep(t.values[oldest])
		} else {
			delete(t.values, oldest)
		}
	}
}
