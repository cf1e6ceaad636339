package llm

import "context"

// A Trace is told of, and may stop, the attempts of one call, through whatever combinators the call
// passes. It is to a call what net/http/httptrace.ClientTrace is to a request.
//
// Every field may be nil. The functions are called on the goroutine of the call, or on others while it
// lasts, and so have to be safe for concurrent use where a Trace serves several calls.
type Trace struct {
	// Again is called before each attempt but the first, after the pause. An error ends the call with
	// the attempts that it has. A budget without room for another
	// attempt returns its error here.
	Again func(context.Context, Request) error
	// Send is called when an attempt has left every queue and is about to be sent. After an error it is
	// not sent, is not tried again, and makes no attempt. A journal writes here that the attempt begins.
	Send func() error
	// Ended is called with the attempts for which Send was called, when they have ended. They are
	// several where an LLM that does not announce them makes several, and none where the request was
	// given up before it went out.
	Ended func([]Attempt)
	// Drain is closed when nothing more is to be sent. What was sent goes on. nil means never.
	Drain <-chan struct{}
	// Queued is called when a call, or an evaluation, begins to wait for a place, and served when it
	// has one or gives up.
	Queued func() (served func())
	// Paused is called when a call begins to pause before a retry, and resumed when the pause is over.
	Paused func() (resumed func())
	// Idle is called by a queue that has a free place for which no call waits there. Other queues may
	// have calls that wait. It must not block, and may be called after the call has ended.
	Idle func()
	// Ask is what the function [Ask] calls in place of l.Generate.
	Ask func(context.Context, LLM, Request) (Reply, error)
}

// traceKey is the context's key for its Trace, and the only one in this package.
type traceKey struct{}

// WithTrace returns ctx with t. Fields that t leaves nil are those of the Trace that ctx carries already.
// A field that is set replaces that one. To have both called, call the one that [TraceOf] returns in yours.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	all, set := *TraceOf(ctx), *t
	if set.Again != nil {
		all.Again = set.again
	}
	if set.Send != nil {
		all.Send = set.send
	}
	if set.Ended != nil {
		all.Ended = set.Ended
	}
	if set.Drain != nil {
		all.Drain = set.Drain
	}
	if set.Queued != nil {
		all.Queued = set.Queued
	}
	if set.Paused != nil {
		all.Paused = set.Paused
	}
	if set.Idle != nil {
		all.Idle = set.Idle
	}
	if set.Ask != nil {
		all.Ask = set.Ask
	}
	return context.WithValue(ctx, traceKey{}, &all)
}

// TraceOf returns the Trace of ctx, never nil. Each of its functions can be called: one that nobody set
// does nothing, and Ask is l.Generate. Its Again also returns [ErrDraining] once Drain is closed, and
// an error of its Send is one for which [Retryable] is false. What it points to must not be changed.
func TraceOf(ctx context.Context) *Trace {
	if t, ok := ctx.Value(traceKey{}).(*Trace); ok {
		return t
	}
	return &Trace{
		Again:  func(ctx context.Context, _ Request) error { return TraceOf(ctx).Draining() },
		Send:   func() error { return nil },
		Ended:  func([]Attempt) {},
		Queued: func() func() { return func() {} },
		Paused: func() func() { return func() {} },
		Idle:   func() {},
		Ask:    func(ctx context.Context, l LLM, req Request) (Reply, error) { return l.Generate(ctx, req) },
	}
}

// Draining returns [ErrDraining] once t.Drain is closed.
func (t *Trace) Draining() error {
	select {
	case <-t.Drain:
		return ErrDraining
	default:
		return nil
	}
}

// again is t.Again, but for attempts that are not to be sent because ctx drains.
func (t *Trace) again(ctx context.Context, req Request) error {
	if err := TraceOf(ctx).Draining(); err != nil {
		return err
	}
	return t.Again(ctx, req)
}

// send is t.Send with its error marked, so that Retry knows it.
func (t *Trace) send() error {
	if err := t.Send(); err != nil {
		return &unsentError{err}
	}
	return nil
}
