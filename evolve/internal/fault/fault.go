// Package fault has the errors with which a call or an evaluation of a run ends, and says of any error what it
// means for the step and the run.
package fault

import (
	"errors"
	"fmt"

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

// An Evaluation says that evaluation itself failed, which ends the run. Errors of the budget, the journal and the
// context, which come out of the same call, are not the evaluator's fault.
type Evaluation struct{ Why error }

func (e *Evaluation) Error() string { return e.Why.Error() }
func (e *Evaluation) Unwrap() error { return e.Why }

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
	var e *Evaluation
	return errors.As(err, &e)
}

// EndsRun reports whether err is more than the failure of one call, so that the run cannot go on: the model or the
// evaluator is gone, no call was ever answered, or the journal cannot be written or tells of another run. To go on
// would spend the budget on nothing, or on what cannot be kept.
func EndsRun(err error) bool {
	var unheard *Unheard
	return llm.Unavailable(err) || OfJournal(err) || OfEvaluation(err) || errors.As(err, &unheard)
}
