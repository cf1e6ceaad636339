package nats

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// A room is what the evaluations of a worker share: each has a place, but a suspect has all of them. While one waits for
// that or is evaluated, no slot takes a job. It is safe for concurrent use.
type room struct {
	slots   int64
	places  *semaphore.Weighted // in order of arrival, so evaluations that come later do not hold up a suspect
	suspect sync.Mutex          // held by the one suspect that waits or is evaluated
}

func newRoom(slots int) *room {
	return &room{slots: int64(slots), places: semaphore.NewWeighted(int64(slots))}
}

// enter takes a place, unless a suspect has them all or waits for them. leave gives it back.
func (r *room) enter() bool { return r.places.TryAcquire(1) }

func (r *room) leave() { r.places.Release(1) }

// open waits until no suspect is here.
func (r *room) open(ctx context.Context) {
	if r.places.Acquire(ctx, 1) == nil {
		r.places.Release(1)
	}
}

// isOpen reports whether no suspect is here.
func (r *room) isOpen() bool {
	if !r.enter() {
		return false
	}
	r.leave()
	return true
}

// alone evaluates a suspect once nothing else is under way here. Until then the worker only holds the job: if that takes
// longer than an evaluation may, taking ends, or another suspect is here, another worker has it, and no death is counted.
func (w *Worker) alone(taking, ctx, ours context.Context, r *running) (failed bool) {
	if !w.room.suspect.TryLock() {
		w.answer(r.m, nakLater)
		return false
	}
	defer w.room.suspect.Unlock()
	waiting, cancel := context.WithTimeout(ours, r.Timeout)
	defer cancel()
	defer context.AfterFunc(taking, cancel)()
	err := w.room.places.Acquire(waiting, w.room.slots)
	if err == nil {
		defer w.room.places.Release(w.room.slots)
		defer w.keepAlive(r)()
		return w.evaluateSuspect(ctx, ours, r)
	}
	if w.isGivenUp(r) {
		w.drop(r)
	} else {
		w.answer(r.m, nakLater)
	}
	return false
}

// evaluateSuspect evaluates a suspect that has the worker to itself, unless it was scored meanwhile by one that was taken
// for dead. Its death is counted before it begins, and taken back if it is given back.
func (w *Worker) evaluateSuspect(ctx, ours context.Context, r *running) (failed bool) {
	known, err := w.last(ours, r.resultSubject(w.cfg.Server))
	deaths := 0 // with this one: if an answer of the server is lost, the death must not count twice
	count := func(h *history) {
		if deaths == 0 {
			deaths = h.deaths + 1
		}
		h.deaths = max(h.deaths, deaths)
	}
	for err == nil && known == nil && !r.counted {
		if w.note(ours, r, count) == nil {
			r.counted = true
		} else if err = ours.Err(); err == nil {
			sleep(ours, askAgain)
		}
	}
	switch {
	case known != nil:
		w.known(r)
	case w.isGivenUp(r):
		w.drop(r)
	case err != nil: // the worker is ending
		w.giveBack(r, nak)
	default:
		return w.evaluate(ctx, ours, r)
	}
	return false
}
