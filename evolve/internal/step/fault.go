package step

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// A Refused says that the budget has no room for a call.
type Refused struct{ Limit string }

func (e *Refused) Error() string {
	return fmt.Sprintf("evolve: the budget's %s has no room for another call", e.Limit)
}

// A Doomed refuses what a step asks for after a fault. It unwraps to the fault, and counts as llm.ErrDraining.
type Doomed struct{ Fault error }

func (e *Doomed) Error() string {
	return fmt.Sprintf("evolve: the step asks for nothing more, because it is made again as a whole after: %v", e.Fault)
}
func (e *Doomed) Unwrap() error        { return e.Fault }
func (e *Doomed) Is(target error) bool { return target == llm.ErrDraining }

// An EvaluationError says that evaluation itself failed, which ends the run. Errors of the budget, the journal and the
// context, which come out of the same call, are not the evaluator's fault.
type EvaluationError struct{ Why error }

func (e *EvaluationError) Error() string { return e.Why.Error() }
func (e *EvaluationError) Unwrap() error { return e.Why }

// A Lost says that an evaluation was lost because a call of its evaluator failed. It costs one child.
type Lost struct{ Why error }

func (e *Lost) Error() string {
	return "its evaluation is lost, as a call of the evaluator failed: " + e.Why.Error()
}
func (e *Lost) Unwrap() error { return e.Why }

// An Unheard ends a run of which no model call was ever answered.
type Unheard struct {
	Failed int // attempts
	Last   error
}

func (e *Unheard) Error() string {
	s := fmt.Sprintf("evolve: no model call was ever answered, and %d attempts failed, the last with: %v",
		e.Failed, e.Last)
	if remedy := llm.Remedy(e.Last); remedy != "" {
		s += "; " + remedy
	}
	return s
}
func (e *Unheard) Unwrap() error { return e.Last }

// An Abandoned has the text of the error in an earlier incarnation, so that the result is the same to the byte. It
// unwraps to the error of this one, which decides what the run does.
type Abandoned struct{ Then, Now error }

func (e *Abandoned) Error() string { return e.Then.Error() }
func (e *Abandoned) Unwrap() error { return e.Now }

// A Panic says that code that was given to a run panicked: an arm, the policy, a task, a model, a hook.
type Panic struct {
	What  string // whose code it was: "Config.Observer", "Step of arm 3"
	Value any    // what it panicked with
	Stack []byte // where, as [debug.Stack] formats it
}

// Error says in one line who panicked with what. The stack is not in it.
func (e *Panic) Error() string { return fmt.Sprintf("evolve: %s panicked: %v", e.What, e.Value) }

// A Thrown is an error that comes out of a method that returns none, such as Calls. It is a panic for a caller who
// steps an arm by hand.
type Thrown struct{ error }

// Throw panics with err as a Thrown.
func Throw(err error) { panic(Thrown{err}) }

// Guard calls f and returns what it panics with as an error. The stack is taken here, while it still shows where.
func Guard(what string, f func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case Thrown:
			err = v.error
		default:
			err = &Panic{what, v, debug.Stack()}
		}
	}()
	f()
	return nil
}

// Fatal reports whether err is more than the failure of one call, so that the run cannot go on: a fault that ends
// it, or code that panicked.
func Fatal(err error) bool {
	var panicked *Panic
	return EndsRun(err) || errors.As(err, &panicked)
}

// Lasting returns err if it ends the search, and nil if it is the failure of one call, which costs one child.
func Lasting(ctx context.Context, err error) error {
	if _, refused := Refusal(err); refused || ctx.Err() != nil || Fatal(err) {
		return err
	}
	return nil
}

// Refusal reports whether err says that a call or an evaluation was not made. limit is the field of the Budget that has
// no room for it, or "" if the run is coming to an end.
func Refusal(err error) (limit string, refused bool) {
	var r *Refused
	var doomed *Doomed // whatever the fault was, what it keeps back is asked for when the run goes on
	if !errors.As(err, &doomed) && errors.As(err, &r) {
		return r.Limit, true
	}
	return "", errors.Is(err, llm.ErrDraining)
}

// IsLost reports whether err says that an evaluation was lost.
func IsLost(err error) bool {
	var l *Lost
	return errors.As(err, &l)
}

// OfJournal reports whether err says that the journal cannot be written or tells of another run.
func OfJournal(err error) bool {
	return errors.Is(err, record.ErrWrite) || errors.Is(err, record.ErrDiverged)
}

// OfEvaluation reports whether err says that evaluation itself failed.
func OfEvaluation(err error) bool {
	var e *EvaluationError
	return errors.As(err, &e)
}

// EndsRun reports whether err is more than the failure of one call, so that the run cannot go on: the model or the
// evaluator is gone, no call was ever answered, or the journal cannot be written or tells of another run. To go on
// would spend the budget on nothing, or on what cannot be kept.
func EndsRun(err error) bool {
	var unheard *Unheard
	return llm.Unavailable(err) || OfJournal(err) || OfEvaluation(err) || errors.As(err, &unheard)
}
