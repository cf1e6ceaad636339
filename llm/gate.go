package llm

import (
	"context"
	"errors"
	"sync/atomic"
)

// gateKey is the context's key for the function that admits attempts.
type gateKey struct{}

// WithGate returns ctx for one call of Generate, whose further attempts are sent only if gate returns
// nil. A budget uses it to set aside what an attempt may cost before it is sent.
func WithGate(ctx context.Context, gate func(context.Context, Request) error) context.Context {
	return context.WithValue(ctx, gateKey{}, gate)
}

// Again asks whether req may be sent once more. Whatever makes more than one attempt at a call asks it
// before each but the first, as [Retry] does, and gives up with the error of the attempt before if it
// returns one. It returns nil where nobody set a gate.
func Again(ctx context.Context, req Request) error {
	if err := Draining(ctx); err != nil {
		return err
	}
	gate, ok := ctx.Value(gateKey{}).(func(context.Context, Request) error)
	if !ok {
		return nil
	}
	return gate(ctx, req)
}

// sendKey is the context's key for the function that is asked before a request leaves.
type sendKey struct{}

// WithSend returns ctx for one call of Generate, each of whose attempts is made only if send returns nil;
// its error ends the call. Send is asked last, when the attempt has left every queue on the way to the
// model, so that whoever must know what was sent is not told of what only waits. [Announces] says which
// LLMs ask; of others nothing is known, and a caller has to take their calls as sent at once.
func WithSend(ctx context.Context, send func() error) context.Context {
	return context.WithValue(ctx, sendKey{}, send)
}

// Announces reports whether l asks the function of [WithSend] before each attempt. [Limit] and [Pool] do;
// what wraps another LLM does if that does, as [Retry] and [Record]. An LLM of another make says so with a
// method Announces() bool.
func Announces(l LLM) bool {
	a, ok := l.(interface{ Announces() bool })
	return ok && a.Announces()
}

// announce asks the function of WithSend before an attempt at l, unless l does that itself.
func announce(ctx context.Context, l LLM) error {
	send, ok := ctx.Value(sendKey{}).(func() error)
	if !ok || Announces(l) {
		return nil
	}
	if err := send(); err != nil {
		return &unsentError{err}
	}
	return nil
}

// An unsentError is why an attempt was not made. Asking again does not help.
type unsentError struct{ why error }

func (e *unsentError) Error() string { return e.why.Error() }
func (e *unsentError) Unwrap() error { return e.why }

// unsent reports whether err says that an attempt was not made because the function of WithSend said no.
func unsent(err error) bool {
	_, ok := errors.AsType[*unsentError](err)
	return ok
}

// ErrDraining says that a request was not sent because its run is coming to an end.
var ErrDraining = errors.New("not sent: the run is coming to an end")

// drainKey is the context's key for the context that ends when nothing more is to be sent.
type drainKey struct{}

// WithDrain returns ctx for calls that are not to be sent any more once drain ends, while those that
// are under way go on. [Limit] gives such calls up that wait for a place, and [Retry] does not try
// again.
func WithDrain(ctx, drain context.Context) context.Context {
	return context.WithValue(ctx, drainKey{}, drain)
}

// Draining returns ErrDraining once the drain that ctx carries has ended.
func Draining(ctx context.Context) error {
	if drain, ok := ctx.Value(drainKey{}).(context.Context); ok && drain.Err() != nil {
		return ErrDraining
	}
	return nil
}

// whileWanted returns ctx for waiting before a request is sent: it ends also when the drain does.
func whileWanted(ctx context.Context) (context.Context, context.CancelFunc) {
	drain, ok := ctx.Value(drainKey{}).(context.Context)
	if !ok {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(drain, func() { cancel(ErrDraining) })
	return ctx, func() { stop(); cancel(nil) }
}

// idleKey is the context's key for what is told of idle places.
type idleKey struct{}

// idleness is what WithIdle puts into a context.
type idleness struct {
	say     func()
	waiting atomic.Int64 // calls, in whatever queue
}

// WithIdle returns ctx for calls whose [Limit] or [Pool] tells idle, in passing, when a place is free and
// no call waits for one, there or in another queue on the way to the model. It must not block.
func WithIdle(ctx context.Context, idle func()) context.Context {
	return context.WithValue(ctx, idleKey{}, &idleness{say: idle})
}

// queued counts a call that waits for a place, until it calls what is returned.
func queued(ctx context.Context) (served func()) {
	i, ok := ctx.Value(idleKey{}).(*idleness)
	if !ok {
		return func() {}
	}
	i.waiting.Add(1)
	return func() { i.waiting.Add(-1) }
}

// sayIdle tells whoever wants to know that a place is free.
func sayIdle(ctx context.Context) {
	if i, ok := ctx.Value(idleKey{}).(*idleness); ok && i.waiting.Load() == 0 {
		i.say()
	}
}
