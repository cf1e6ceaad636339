package nats

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// pursue makes the requests about a job one by one, until the table has none.
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

// postFirst posts a new job once few others are being posted. It posts on a goroutine of its own and waits for it, to
// keep the caller's stack small: the caller's goroutine lives long.
func (e *Evaluator) postFirst(ctx context.Context, j job) {
	if e.posting.Acquire(ctx, 1) != nil {
		e.table.posted(j.Key, unchanged, time.Now()) // other evaluations may wait for the job by now
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

// post looks for the result of a job, and queues the job if there is none. A job that is already queued, by this
// process or by a killed one of the same run, stays queued.
func (e *Evaluator) post(ctx context.Context, j job) postStatus {
	m, err := lastOf(ctx, e.nc, e.cfg.Server.results(), j.resultSubject(e.cfg.Server))
	if err != nil {
		e.postFailed(err)
		return unchanged
	}
	if m != nil {
		if !e.accept(m, true) { // as long as it is there, no other result can be stored
			e.forget(ctx, j.Key)
		}
		return unchanged
	}
	if !e.table.wants(j.Key) {
		return unchanged
	}
	e.posted.Store(true)
	err = storeNew(ctx, e.js, j.message(e.cfg.Server))
	if err == nil || isPresent(err) {
		return isQueued
	}
	if e.postFailed(err) {
		return unchanged
	}
	return unknown
}

// postFailed logs that a job could not be posted, and reports whether the server refused it. A refusal is a warning,
// since it may last; anything else is retried.
func (e *Evaluator) postFailed(err error) (refused bool) {
	log := e.cfg.Logger.Debug
	var api *jetstream.APIError
	if refused = errors.As(err, &api); refused {
		e.table.refusedJob()
		if e.logged.due(api.Description) {
			log = e.cfg.Logger.Warn
		}
	}
	log("nats: queuing a job failed, retrying: if the stream is full, raise its bytes or wait for the jobs of other runs",
		"stream", e.cfg.Server.jobs(), "error", printable.Line(err.Error()))
	return refused
}

// cancel removes a job from the queue and stops its worker. It returns after the server has answered, so a run that
// ends leaves no jobs behind. If cancel fails, a worker evaluates the job in vain.
func (e *Evaluator) cancel(j job) {
	if !e.nc.IsConnected() {
		return
	}
	s := e.cfg.Server
	m, err := e.queuedMessage(j)
	if err != nil {
		m, err = e.queuedMessage(j) // a busy server may answer too late
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

// queuedMessage returns the message of a job in the stream, or nil if a worker has finished the job.
func (e *Evaluator) queuedMessage(j job) (*jetstream.RawStreamMsg, error) {
	ctx, end := context.WithTimeout(context.Background(), cancelWithin)
	defer end()
	m, err := e.stream.GetLastMsgForSubject(ctx, j.subject(e.cfg.Server))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	return m, err
}

// cancelWithin bounds each request of a cancellation.
const cancelWithin = time.Second
