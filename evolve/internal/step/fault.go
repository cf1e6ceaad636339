package step

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

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

// An EvaluationError says that evaluation itself failed, which ends the run. Errors of the budget, the journal and
// the context, which come out of the same call, are not the evaluator's fault.
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

func is[T error](err error) bool {
	var e T
	return errors.As(err, &e)
}

// IsLost reports whether err says that an evaluation was lost.
func IsLost(err error) bool { return is[*Lost](err) }

// OfEvaluation reports whether err says that evaluation itself failed.
func OfEvaluation(err error) bool { return is[*EvaluationError](err) }

// OfJournal reports whether err says that the journal cannot be written or tells of another run.
func OfJournal(err error) bool {
	return errors.Is(err, record.ErrWrite) || errors.Is(err, record.ErrDiverged)
}

// EndsRun reports whether err is more than the failure of one call, so that the run cannot go on: the model or the
// evaluator is gone, no call was ever answered, or the journal cannot be written or tells of another run. To go on
// would spend the budget on nothing, or on what cannot be kept.
func EndsRun(err error) bool {
	return llm.Unavailable(err) || OfJournal(err) || OfEvaluation(err) || is[*Unheard](err)
}

// Fatal reports whether err ends the run, or is the panic of code that was given to it.
func Fatal(err error) bool { return EndsRun(err) || is[*Panic](err) }

// Lasting returns err if it ends the search, and nil if it is the failure of one call, which costs one child.
func Lasting(ctx context.Context, err error) error {
	if _, refused := Refusal(err); refused || ctx.Err() != nil || Fatal(err) {
		return err
	}
	return nil
}

// Refusal reports whether err says that a call or an evaluation was not made. limit is the field of the Budget that
// has no room for it, or "" if the run is coming to an end.
func Refusal(err error) (limit string, refused bool) {
	var r *Refused
	// Whatever fault doomed the step, what it keeps back is asked for when the run goes on.
	if !is[*Doomed](err) && errors.As(err, &r) {
		return r.Limit, true
	}
	return "", errors.Is(err, llm.ErrDraining)
}

// refusedBy returns the limit that left no room, "" if that is not what err says.
func refusedBy(err error) string {
	limit, _ := Refusal(err)
	return limit
}

// A Streak counts the calls in a row that failed, among those made in this incarnation of the run. Calls that the
// journal recalls must not be noted. If they counted, the streak that ended one incarnation would end each one after
// it, although the endpoint is back. It is safe for concurrent use. The zero value is ready.
type Streak struct {
	mu sync.Mutex
	n  int
}

// Note counts a call. It returns an error that calls them what when most of them in a row have failed. A call that
// was never sent does not count. A timeout neither counts nor ends the streak: Budget.Stalls limits timeouts.
func (s *Streak) Note(what string, attempts []llm.Attempt, err error, most int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch last := len(attempts) - 1; {
	case last < 0:
	case attempts[last].Status == llm.Failed:
		s.n++
	case attempts[last].Status == llm.OK:
		s.n = 0
	}
	if s.n < most || err == nil {
		return nil
	}
	return fmt.Errorf("evolve: %d %s in a row failed, the last with: %w", s.n, what, err)
}

// mostUnheard is how many attempts may fail while no call of a run was ever answered: two calls with the retries that
// [llm.Retry] makes by default. Attempts count once their call has ended, so an endpoint has the time of a call's
// retries to come up, and an LLM that retries for longer gives it longer.
const mostUnheard = 2 * (1 + llm.DefaultRetries)

// mostRefused is how many calls in a row a model that has answered may refuse.
const mostRefused = 8

// A Silence counts the attempts that failed of a run of which no call was ever answered. Such a run most likely has
// the wrong address or a broken endpoint, and to go on only delays saying so. After the first answer, also one that
// the journal recalls, it counts nothing. It is safe for concurrent use. The zero value is ready.
type Silence struct {
	mu      sync.Mutex
	broken  bool           // a call was answered
	failed  int            // attempts of calls that ended
	open    int            // calls under way
	late    bool           // too many attempts had failed
	waiting int            // calls that were begun before that, and are under way
	refused map[string]int // by model that has answered: calls that it refused since
}

// Begin begins a call. The func that it returns ends it, and returns its error, or a [*Unheard] if the run ends
// because nothing was answered.
//
// When too many attempts have failed, the calls under way decide: failures come fast, and a good answer may take
// minutes. An endpoint that says when to come back (Retry-After) is busy and not broken, so what it refuses counts
// nothing. Nor do attempts that timed out: Budget.Stalls limits those.
func (s *Silence) Begin() (end func([]llm.Attempt, error) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	early := !s.late
	return func(attempts []llm.Attempt, err error) error {
		s.Hear(attempts)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open--; early && s.late {
			s.waiting--
		}
		return s.end(attempts, s.alone(attempts, err))
	}
}

// Hear takes in that a call was answered, if it was. Its failure counts nothing.
func (s *Silence) Hear(attempts []llm.Attempt) {
	if !Answered(attempts) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = true
	if s.refused == nil {
		s.refused = make(map[string]int)
	}
	s.refused[attempts[len(attempts)-1].Model] = 0
}

// alone returns err as that of its request alone, if a model that has answered refuses it as it does a wrong key or a
// wrong name: providers refuse single prompts so. Several in a row are what they say. s.mu is held.
func (s *Silence) alone(attempts []llm.Attempt, err error) error {
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.KindAuth && e.Kind != llm.KindNotFound || len(attempts) == 0 {
		return err
	}
	model := attempts[len(attempts)-1].Model
	if n, answered := s.refused[model]; !answered || n >= mostRefused {
		return err
	}
	s.refused[model]++
	one := *e
	one.Kind = llm.KindBadRequest
	return &one
}

// end takes in that a call failed, and returns its error. s.mu is held.
func (s *Silence) end(attempts []llm.Attempt, err error) error {
	var busy *llm.Error
	if _, refused := Refusal(err); s.broken || refused || errors.As(err, &busy) && busy.RetryAfter > 0 ||
		llm.ClassOf(attempts) != llm.Errored {
		return err
	}
	for _, a := range attempts {
		if a.Status == llm.Failed {
			s.failed++
		}
	}
	if s.failed >= mostUnheard && !s.late {
		s.late, s.waiting = true, s.open
	}
	if !s.late || s.waiting > 0 {
		return err
	}
	return &Unheard{Failed: s.failed, Last: err}
}
