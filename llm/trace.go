package llm

import "context"

// A Trace observes, and may stop, the attempts of one call, through all combinators that the call passes. It is to a
// call what net/http/httptrace.ClientTrace is to a request.
//
// Every field may be nil. The functions are called on the goroutine of the call, or on others while the call lasts, so
// they must be safe for concurrent use if a Trace serves several calls.
type Trace struct {
	// Again is called before each attempt but the first, after the pause. An error ends the call with its attempts so far.
	// A budget without room for another attempt returns its error here.
	Again func(context.Context, Request) error
	// Send is called when an attempt has left every queue and is about to be sent, with the Key of the [Model] that it
	// asks, "" if that is not known. The attempt's Model must be the same. After an error the attempt is neither sent nor
	// retried nor recorded. A journal writes here that the attempt begins, and a budget sets aside what the model may
	// cost.
	Send func(model string) error
	// Ended is called when the attempts announced by one Send have ended. They are several if an LLM that does not
	// announce them makes several, and none if the request was canceled before it was sent.
	Ended func([]Attempt)
	// Drain is closed when nothing more may be sent. Attempts under way go on. nil means never.
	Drain <-chan struct{}
	// Queued is called when a call, or an evaluation, begins to wait for a slot, and served when the wait ends.
	Queued func() (served func())
	// Paused is called when a call begins to pause before a retry, and resumed when the pause is over.
	Paused func() (resumed func())
	// Idle is called by a queue that has a free slot and no waiting call. Calls may be waiting in other queues. Idle must
	// not block, and may be called after the call has ended.
	Idle func()
	// Ask is called by the function [Ask] instead of l.Generate.
	Ask func(context.Context, LLM, Request) (Reply, error)
}

// traceKey is the context's key for its Trace, and the only one in this package.
type traceKey struct{}

// WithTrace returns ctx with t. Nil fields of t keep the functions of the Trace that ctx already has; others replace
// them. A function that should add to the earlier one must call the one from [TraceOf].
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

// TraceOf returns the Trace of ctx, never nil. All of its functions can be called: by default they do nothing, and Ask
// is l.Generate. Its Again also returns [ErrDraining] once Drain is closed, and errors of its Send are not [Retryable].
// Do not change the Trace.
func TraceOf(ctx context.Context) *Trace {
	if t, ok := ctx.Value(traceKey{}).(*Trace); ok {
		return t
	}
	return &Trace{
		Again:  func(ctx context.Context, _ Request) error { return TraceOf(ctx).Draining() },
		Send:   func(string) error { return nil },
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

// again is t.Again, or ErrDraining if ctx drains.
func (t *Trace) again(ctx context.Context, req Request) error {
	if err := TraceOf(ctx).Draining(); err != nil {
		return err
	}
	return t.Again(ctx, req)
}

// send is t.Send with its error marked for Retry.
func (t *Trace) send(model string) error {
	if err := t.Send(model); err != nil {
		return &unsentError{err}
	}
	return nil
}
