package llm

import (
	"context"
	"errors"
)

// Ask is l.Generate through the Ask of ctx's [Trace]. An evaluator that asks a model itself calls it, so
// that the call is within the budget of the run that evaluates, and in its result.
func Ask(ctx context.Context, l LLM, req Request) (Reply, error) {
	return TraceOf(ctx).Ask(ctx, l, req)
}

// Send is l.Generate for whoever queues or repeats calls, as [Limit], [Retry], a pool, an ensemble, or a
// queue of yours. It announces the attempt to ctx's [Trace], by Send before and Ended after, unless l
// does so itself. So each attempt is announced once, in whatever order combinators stand around a model.
func Send(ctx context.Context, l LLM, req Request) (reply Reply, err error) {
	if Announces(l) {
		return l.Generate(ctx, req)
	}
	t := TraceOf(ctx)
	if err := t.Send(); err != nil {
		return Reply{}, err
	}
	defer func() { t.Ended(reply.Attempts) }() // if l panics, too
	return l.Generate(WithTrace(ctx, announced), req)
}

// announced is the Trace of a call that is announced already. It silences an LLM within l that announces
// although l, which hides it, does not.
var announced = &Trace{Send: func() error { return nil }, Ended: func([]Attempt) {}}

// Announces reports whether l announces each of its attempts to the [Trace] of the context. An LLM says so
// with a method Announces() bool. One that has no such method, but a method Unwrap() LLM, announces them if
// the LLM that it wraps does.
func Announces(l LLM) bool {
	a, ok := As[interface{ Announces() bool }](l)
	return ok && a.Announces()
}

// As returns the first LLM in the chain of l that is a T: l itself, or what it wraps, or what that wraps,
// and so on as far as they have a method Unwrap() LLM. All combinators of one LLM have.
func As[T any](l LLM) (T, bool) {
	for l != nil {
		if t, ok := l.(T); ok {
			return t, true
		}
		w, ok := l.(interface{ Unwrap() LLM })
		if !ok {
			break
		}
		l = w.Unwrap()
	}
	var none T
	return none, false
}

// errUnsent is wrapped by the error of a call whose attempt was refused by the Send of a Trace. Trying again
// does not help.
var errUnsent = errors.New("not sent")

// An unsentError is the error of a Trace's Send, marked as errUnsent.
type unsentError struct{ why error }

func (e *unsentError) Error() string        { return e.why.Error() }
func (e *unsentError) Unwrap() error        { return e.why }
func (e *unsentError) Is(target error) bool { return target == errUnsent }
