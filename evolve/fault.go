package evolve

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/evoalloc/evoalloc/evolve/internal/fault"
)

// A PanicError says that code that was given to a run panicked: an arm, the policy, a task, a model, a hook.
// [Run] returns it like any other error of such code, and its result holds what was paid for until then. A crash
// would lose that in a run without a journal.
type PanicError struct {
	What  string // whose code it was: "Config.Observer", "Step of arm 3"
	Value any    // what it panicked with
	Stack []byte // where, as [debug.Stack] formats it
}

// Error says in one line who panicked with what. The stack is not in it.
func (e *PanicError) Error() string { return fmt.Sprintf("evolve: %s panicked: %v", e.What, e.Value) }

// thrown is an error that comes out of a method that returns none, such as Calls. It is a panic for a caller who
// steps an arm by hand.
type thrown struct{ error }

// guard calls f and returns what it panics with as an error. The stack is taken here, while it still shows where.
func guard(what string, f func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case thrown:
			err = v.error
		default:
			err = &PanicError{what, v, debug.Stack()}
		}
	}()
	f()
	return nil
}

// fatal reports whether err is more than the failure of one call, so that the run cannot go on: a fault that ends
// it, or code that panicked.
func fatal(err error) bool {
	var panicked *PanicError
	return fault.EndsRun(err) || errors.As(err, &panicked)
}

// lasting returns err if it ends the search, and nil if it is the failure of one call, which costs one child.
func lasting(ctx context.Context, err error) error {
	if _, refused := Refused(err); refused || ctx.Err() != nil || fatal(err) {
		return err
	}
	return nil
}

// Refused reports whether err says that a call or an evaluation was not made. limit is the field of the Budget
// that has no room for it, or "" if the run is coming to an end.
func Refused(err error) (limit string, refused bool) { return fault.Refusal(err) }

// Lost reports whether err says that an evaluation was lost because a call of its evaluator failed. It cost one
// program, and the search can go on.
func Lost(err error) bool { return fault.IsLost(err) }
