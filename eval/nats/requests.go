package nats

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// pursue makes the requests about a job, one after the other, until the table has none.
func (e *Evaluator) pursue(ctx context.Context, j job, next request) {
	for next != nothing {
		switch next {
		case post:
			next = e.table.posted(j.Key, e.post(ctx, j), time.Now())
		case cancel:
			e.cancel(j)
			next = e.table.canceled(j.Key, time.Now())
		}
	}
}

// postFirst posts a new job once few others are being posted. The goroutine that posts ends before it returns: the
// stack of the caller's, which then waits for long, stays small.
func (e *Evaluator) postFirst(ctx context.Context, j job) {
	if e.posting.Acquire(ctx, 1) != nil {
		e.table.posted(j.Key, unchanged, time.Now()) // other evaluations may wait for it by now
		return
	}
	defer e.posting.Release(1)
	posted := make(chan struct{})
	go func() {
		defer close(posted)
		e.pursue(ctx, j, post)
	}()
	<-posted
}

// post looks for the result of a job, and queues the job if there is none. If it is queued already, by this process or
// by one of the same run that was killed, it stays as it is.
func (e *Evaluator) post(ctx context.Context, j job) outcome {
	m, err := lastOf(ctx, e.nc, e.cfg.Server.results(), j.resultSubject(e.cfg.Server))
	if err != nil {
		e.postFailed(err)
		return unchanged
	}
	if m != nil {
		if !e.accept(m, true) { // no other result can be stored in its place
			e.forget(ctx, j.Key)
		}
		return unchanged
	}
	if !e.table.wants(j.Key) {
		return unchanged
	}
	e.posted.Store(true)
	err = storeNew(ctx, e.js, j.message(e.cfg.Server))
	if err == nil || present(err) {
		return isQueued
	}
	if e.postFailed(err) {
		return unchanged
	}
	return unknown
}

// postFailed logs that a job could not be posted, and reports whether the server refused it. A refusal is a warning, as
// it may last. Anything else is tried again.
func (e *Evaluator) postFailed(err error) (refused bool) {
	log := e.cfg.Logger.Debug
	var api *jetstream.APIError
	if refused = errors.As(err, &api); refused {
		e.table.refusedJob()
		if e.logged.due(api.Description) {
			log = e.cfg.Logger.Warn
		}
	}
	log("nats: queuing a job failed for now: if the stream is full, raise its bytes or wait for others' jobs",
		"stream", e.cfg.Server.jobs(), "error", printable.Line(err.Error()))
	return refused
}

// cancel removes a job from the queue and has its worker stop. It returns after the server has answered, so a run that
// ends leaves nothing behind. If that fails, a worker evaluates the job in vain.
func (e *Evaluator) cancel(j job) {
	if !e.nc.IsConnected() {
		return
	}
	s := e.cfg.Server
	m, err := e.queuedMessage(j)
	if err != nil {
		m, err = e.queuedMessage(j) // a server that is asked by many at once may answer too late
	}
	if err != nil || m == nil {
		return
	}
	ctx, end := context.WithTimeout(context.Background(), cancelWithin)
	defer end()
	e.stream.DeleteMsg(ctx, m.Sequence)
	text, _ := json.Marshal(cancellation{Digest: j.Digest, Key: j.Key, Run: j.Run, Sequence: m.Sequence})
	e.nc.Publish(s.subject("cancel", j.token()), text)
}

// queuedMessage returns the message of a job in the stream, or nil if a worker is done with it.
func (e *Evaluator) queuedMessage(j job) (*jetstream.RawStreamMsg, error) {
	ctx, end := context.WithTimeout(context.Background(), cancelWithin)
	defer end()
	m, err := e.stream.GetLastMsgForSubject(ctx, j.subject(e.cfg.Server))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	return m, err
}

// cancelWithin bounds each question of a cancellation.
const cancelWithin = time.Second
