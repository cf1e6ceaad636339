// Package memo remembers what was computed for a key. Callers that ask for one key at the same time share one
// computation.
package memo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
)

// A Key names what is computed.
type Key [sha256.Size]byte

// A Table remembers values by key, as many as fit in its room, and forgets the oldest first. It is safe for
// concurrent use. [New] makes it.
type Table[V any] struct {
	// Keep returns what stays of a value that no longer fits, for which no room is counted; nil: nothing stays. Set Keep
	// before the first Do.
	Keep func(V) V

	size func(V) int

	mu     sync.Mutex
	room   int // bytes that values may still take
	values map[Key]V
	order  []Key // of values, oldest first
	calls  map[Key]*call[V]
}

// A call is a computation under way. What it found is set before done is closed.
type call[V any] struct {
	done  chan struct{}
	value V
	err   error
	again bool // whoever computed gave up, and another must try
}

// New returns an empty table with room for so many bytes, of which a value takes size(v).
func New[V any](room int, size func(V) int) *Table[V] {
	return &Table[V]{size: size, room: room, values: make(map[Key]V), calls: make(map[Key]*call[V])}
}

// Do returns the value for key: the one remembered, or what compute returns. Callers that ask for one key at the
// same time share one computation, under the context of the first. If the first gives up, the next takes over
// with its own context: its caller has not given up. An error is returned to all who share it, and is not
// remembered, because the cause may pass.
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

// join returns the value for key if it is known, and otherwise the call that computes it, which is the
// caller's to make if it is the first.
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

// lead computes for all who joined c.
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

// remember keeps v, in the place of older values if need be.
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
