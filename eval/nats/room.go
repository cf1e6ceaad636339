package nats

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// A room has a place for each of a worker's evaluations, and a suspect needs all places. While a suspect waits for
// them or is evaluated, no slot takes a job. A room is safe for concurrent use.
type room struct {
	slots   int64
	places  *semaphore.Weighted // given in order of arrival, so later evaluations do not hold up a suspect
	suspect sync.Mutex          // held by the one suspect that waits or is evaluated
}

func newRoom(slots int) *room {
	return &room{slots: int64(slots), places: semaphore.NewWeighted(int64(slots))}
}

// enter takes a place, unless a suspect has all places or waits for them. leave gives the place back.
func (r *room) enter() bool { return r.places.TryAcquire(1) }

func (r *room) leave() { r.places.Release(1) }

// awaitNoSuspect returns when no suspect has the places or waits for them, or ctx ends.
func (r *room) awaitNoSuspect(ctx context.Context) {
	if r.places.Acquire(ctx, 1) == nil {
		r.places.Release(1)
	}
}

// hasSuspect reports whether a suspect has the places or waits for them. It is for a slot that has no place: then one
// is free, unless a suspect takes it.
func (r *room) hasSuspect() bool {
	if !r.enter() {
		return true
	}
	r.leave()
	return false
}
