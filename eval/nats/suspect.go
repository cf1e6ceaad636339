package nats

import "context"

// evaluateAlone evaluates a suspect once the worker has nothing else under way. Until then it only holds the job. It
// gives the job to another worker, without a death, if another suspect is here, taking ends, or the wait takes longer
// than an evaluation may.
func (w *Worker) evaluateAlone(taking, ctx, ours context.Context, a *activeJob) (failed bool) {
	if !w.room.suspect.TryLock() {
		w.answer(a.delivery, nakLater)
		return false
	}
	defer w.room.suspect.Unlock()
	waiting, cancel := context.WithTimeout(ours, a.Timeout)
	defer cancel()
	defer context.AfterFunc(taking, cancel)()
	err := w.room.free.Acquire(waiting, w.room.slots)
	if err == nil {
		defer w.room.free.Release(w.room.slots)
		defer w.keepAlive(a)()
		return w.evaluateSuspect(ctx, ours, a)
	}
	if w.isCanceled(a) {
		w.drop(a)
	} else {
		w.answer(a.delivery, nakLater)
	}
	return false
}

// evaluateSuspect evaluates a suspect that has the worker to itself, unless a worker that seemed dead has scored it. It
// counts a death before the evaluation begins; giving the job back reverts that.
func (w *Worker) evaluateSuspect(ctx, ours context.Context, a *activeJob) (failed bool) {
	known, err := w.last(ours, a.resultSubject(w.cfg.Server))
	deaths := 0 // including this one, which must count once even if an answer of the server is lost
	count := func(h *history) {
		if deaths == 0 {
			deaths = h.deaths + 1
		}
		h.deaths = max(h.deaths, deaths)
	}
	for err == nil && known == nil && !a.counted {
		if w.note(ours, a, count) == nil {
			a.counted = true
		} else if err = ours.Err(); err == nil {
			sleep(ours, askAgain)
		}
	}
	switch {
	case known != nil:
		w.finishKnown(a)
	case w.isCanceled(a):
		w.drop(a)
	case err != nil: // the worker is ending
		w.giveBack(a, nak)
	default:
		return w.evaluate(ctx, ours, a)
	}
	return false
}
