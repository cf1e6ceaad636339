package evolve

import (
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

// fatal reports whether err is more than the failure of one call, so that the run cannot go on: a fault that ends it, or
// code that panicked.
func fatal(err error) bool {
	var panicked *PanicError
	return fault.EndsRun(err) || errors.As(err, &panicked)
}
