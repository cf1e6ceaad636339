package llm

import (
	"context"
	"errors"
)

// Ask is l.Generate through the Ask of ctx's [Trace]. An evaluator that asks a model must call Ask, so that a run has the
// call. So must an LLM that asks another: its own call then has these attempts, and in a run the reply that it gets has
// none. A kill while its call is under way makes that again, with all that it asked.
func Ask(ctx context.Context, l LLM, req Request) (Reply, error) {
	return TraceOf(ctx).Ask(ctx, l, req)
}

// Send is l.Generate for combinators that queue or repeat calls: [Limit], [Retry], a pool, an ensemble, or your own
// queue. It announces the attempt to ctx's [Trace], by Send before and Ended after, unless l does so itself. So each
// attempt is announced once, for any order of combinators around a model.
func Send(ctx context.Context, l LLM, req Request) (reply Reply, err error) {
	if Announces(l) {
		return l.Generate(ctx, req)
	}
	t := TraceOf(ctx)
	if err := t.Send(""); err != nil {
		return Reply{}, err
	}
	defer func() { t.Ended(reply.Attempts) }() // if l panics, too
	return l.Generate(WithTrace(ctx, announced), req)
}

// announced is the Trace of a call that is announced already. It silences an inner LLM that announces although the LLM
// around it does not say so.
var announced = &Trace{Send: func(string) error { return nil }, Ended: func([]Attempt) {}}

// Announces reports whether l announces each of its attempts to the [Trace] of the context. An LLM says so with a
// method Announces() bool. Without that method, but with a method Unwrap() LLM, it does so if the wrapped LLM does.
func Announces(l LLM) bool {
	a, ok := As[interface{ Announces() bool }](l)
	return ok && a.Announces()
}

// As returns the first T in the chain of l: l itself, the LLM that it wraps, and so on through methods Unwrap() LLM,
// which all combinators of one LLM have.
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

// errUnsent marks the error of a call whose attempt the Send of a Trace refused. Retrying does not help.
var errUnsent = errors.New("not sent")

// An unsentError is the error of a Trace's Send, marked as errUnsent.
type unsentError struct{ why error }

func (e *unsentError) Error() string        { return e.why.Error() }
func (e *unsentError) Unwrap() error        { return e.why }
func (e *unsentError) Is(target error) bool { return target == errUnsent }
