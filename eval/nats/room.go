package nats

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// A room lets one evaluation into each of a worker's slots, or a suspect into all of them. While a suspect waits or is
// evaluated, no slot takes a job. A room is safe for concurrent use.
type room struct {
	slots   int64
	free    *semaphore.Weighted // slots, first come first served, so that later evaluations do not hold up a suspect
	suspect sync.Mutex          // held by the one suspect that waits or is evaluated
}

func newRoom(slots int) *room {
	return &room{slots: int64(slots), free: semaphore.NewWeighted(int64(slots))}
}

// enter takes a slot, unless a suspect has all slots or waits for them. leave frees the slot.
func (r *room) enter() bool { return r.free.TryAcquire(1) }

func (r *room) leave() { r.free.Release(1) }

// awaitNoSuspect returns when no suspect waits or is evaluated, or ctx ends.
func (r *room) awaitNoSuspect(ctx context.Context) {
	if r.free.Acquire(ctx, 1) == nil {
		r.free.Release(1)
	}
}

// hasSuspect reports whether a suspect waits or is evaluated. Only a slot that evaluates nothing may call it: then a
// slot is free, unless a suspect has taken all.
func (r *room) hasSuspect() bool {
	if !r.enter() {
		return true
	}
	r.leave()
	return false
}
