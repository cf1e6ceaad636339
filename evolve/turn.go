package evolve

import (
	"context"
	"errors"
	"math"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/llm"
)

// A Turn is what a run grants an arm for one step: a share of its budget, its journal, its memory of
// programs. Everything a step asks of a model or an evaluator goes through it, so that it is admitted,
// recorded, recalled and booked in one place. The run knows of every call by its Turn: an arm cannot forget one.
//
// It is a parameter of Step and not a value in its context. What limits, records and recalls a call decides
// results, costs and durability. While these were values in a context, one of several wirings could be
// forgotten, and a resumed run then paid for everything again without an error.
//
// A nil *Turn limits and records nothing, for an arm stepped by hand. A Turn is safe for concurrent use in its step.
type Turn struct {
	step   *step.Step
	shared *shared
	calls  int // granted
	pull   bandit.Pull
	// lessons of other searches' proposers, as far as they were known when the step was drawn
	lessons []lesson
}

// Calls returns how many model calls the step may make. It is at least 1, and [math.MaxInt] without a limit.
// Calls beyond it are refused, unless other steps leave some of theirs.
func (t *Turn) Calls() int {
	if t == nil {
		return math.MaxInt
	}
	return t.calls
}

// of returns the step of t, nil for an arm stepped by hand.
func (t *Turn) of() *step.Step {
	if t == nil {
		return nil
	}
	return t.step
}

// KindChild is the kind of a call that asks for a child.
const KindChild = "child"

// Ask asks l. In a run it recalls the reply from the journal. If the journal has none, it admits the call,
// sends it, makes the reply durable, and settles with the budget, in that order. kind is what the call is for:
// [KindChild], or another word for a call beside the children. Such a call is in [Generation.Asides], and so is one for a
// child unless a [Child] of the Generation has the reply's Attempts.
//
// An error for which [Refused] is true means that the call was not made. Any other costs this call alone, unless the
// model is [llm.Unavailable] or the journal failed: the run then ends after the step, whatever Step returns.
//
// A step that has seen a fault which ends the run drains: what it asks for from then on is refused, with an error that
// wraps the fault. A resumed run makes the step again as a whole, and would ask for something else.
func (t *Turn) Ask(ctx context.Context, kind string, l llm.LLM, req llm.Request) (llm.Reply, error) {
	return t.of().Ask(ctx, kind, l, req)
}

// Evaluate scores program with e. Sample numbers independent evaluations of one program. The same program and
// sample are evaluated once in a run, so ask a deterministic evaluator always for sample 0, and a noisy one
// for 0, 1, 2, ... Programs are the same if their texts are, up to white space at the end.
//
// A bad program is a result that is not valid. An error for which [Refused] is true means that the budget has no room,
// or that the step drains (see [Turn.Ask]). Where e fails because a call that it makes through [llm.Ask] failed, the
// error costs this evaluation alone, and [Lost] is true for it; after 32 in a row the run ends. Any other error means
// that evaluation was abandoned or failed itself, which ends the run after the step.
//
// Evaluators are told apart by their values, and across processes by how they print. One whose value cannot be
// compared, such as a func or a struct that holds a slice, is asked again each time.
//
// The parts of an [eval.Composite] are evaluated instead of the whole, each as an evaluation of its own.
//
// An [eval.Sampler] is told the sample.
//
// What e asks of a model through [llm.Ask] is an aside of the kind "evaluation".
func (t *Turn) Evaluate(ctx context.Context, e eval.Evaluator, program string, sample int) (eval.Result, error) {
	return t.of().Evaluate(ctx, e, program, sample)
}

// Tune scores program with e for a tuner, which tries many values for the numbers of a program and has one of them
// evaluated for real, or for an agent that tries what it has made. It is recalled, admitted, recorded and booked as
// Evaluate is, but in Budget.TuneEvaluations and in nothing else. The same program is scored once in a run, apart from
// what it scored for [Turn.Evaluate].
//
// The result has a score, or the reason why there is none, and nothing else. A journal would otherwise be filled by
// the artifacts of programs that nobody keeps.
//
// After an error for which [Refused] is true the tuner must try nothing more. If the error names TuneEvaluations as the
// limit, the tuner returns its best so far, and neither the step nor the run ends. Any other error means
// that the evaluation was abandoned, or that evaluation itself failed, which ends the run after the step. So does
// an evaluator that asks a model: the call would be one of Budget.Calls.
//
// If the Budget has EvalWorst, a longer evaluation is cut off, and invalid. The parts of an [eval.Composite] are one.
func (t *Turn) Tune(ctx context.Context, e eval.Evaluator, program string) (eval.Result, error) {
	return t.of().Tune(ctx, e, program)
}

// TuneBudget returns how many tune evaluations the arm may make in the whole run: Budget.TuneEvaluations less those of
// other arms when the step began, [math.MaxInt] for an arm stepped by hand. Those that other arms make meanwhile are
// not known, so that a step which is made again decides the same.
func (t *Turn) TuneBudget() int { return t.of().TuneBudget() }

// A Work is one session: what a [Brief]'s Make may do on its child's account. What it asks and evaluates goes through
// the step's [Turn], and calls stand in [Generation.Asides] with the child's ID. Its methods are safe for concurrent
// use, until Make returns. Do not use the step's Turn beside it, whose calls are not the session's.
//
// What Make returned is recorded if it used its Work. A session that ended is then never made again: a resumed run
// takes its program, or its error, from the journal. One that a kill or the end of the run cut short begins again.
// What it asks again is answered from the journal, by content and occurrence within the session, and paid for once.
//
// A call that is refused because the budget has no room costs the rest of the session: Make may return the best
// program that it has. Which of two concurrent sessions gets what is left of a limit is chance, but for what
// [Work.Reserve] sets aside, and the journal keeps it. Once the run is coming to an end, nothing of the session
// stands.
type Work struct {
	// Seed is the child's. Seeds of requests derived from it keep sessions of two children from asking for the same.
	Seed uint32

	session *step.Session
}

// Ask asks l, or the brief's model if l is nil, as [Turn.Ask] does. kind is what the call is for: "agent".
func (w *Work) Ask(ctx context.Context, kind string, l llm.LLM, req llm.Request) (llm.Reply, error) {
	return w.session.Ask(ctx, kind, l, req)
}

// Reserve sets calls of Budget.Calls aside for the session, before it asks for anything, and returns how many: n, or what
// is left once all sessions before it have ended. Those of a step are served in order of index, so that the end of the
// budget does not depend on their speed. What is not used is given back when the session ends.
func (w *Work) Reserve(ctx context.Context, n int) (calls int, err error) {
	return w.session.Reserve(ctx, n)
}

// Evaluate scores program as the child is scored, in Budget.Evaluations. The program that Make returns is not evaluated
// once more, unless its evaluator cannot be told from others. For errors see [Turn.Evaluate].
func (w *Work) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return w.session.Evaluate(ctx, program)
}

// Tune scores program with e, or with the task if e is nil, in Budget.TuneEvaluations: a look on the way to a
// program. e may have cheaper cases. For errors see [Turn.Tune].
func (w *Work) Tune(ctx context.Context, e eval.Evaluator, program string) (eval.Result, error) {
	return w.session.Tune(ctx, e, program)
}

// Remember returns what make returns. In a run that is recorded, so a session that begins again gets it from the
// journal: what a command printed, say, whose time is another one each time. what names it within the session; the
// same is remembered once for each time that it is asked for. An error is not remembered.
func (w *Work) Remember(ctx context.Context, what string, make func(context.Context) (string, error)) (string, error) {
	return w.session.Remember(ctx, what, make)
}

// Note adds a line to the session's transcript, for readers of the journal: a tool that was called, what it returned. A
// note is cut after 2 KiB, and a session keeps 64 KiB of them, the first ones.
func (w *Work) Note(text string) { w.session.Note(text) }

// A PanicError says that code that was given to a run panicked: an arm, the policy, a task, a model, a hook. [Run]
// returns it like any other error, with a result: a crash would lose what was paid for in a run without a journal.
type PanicError struct {
	What  string // whose code it was: "Config.Observer", "Step of arm 3"
	Value any    // what it panicked with
	Stack []byte // where, as [debug.Stack] formats it

	err error
}

func (e *PanicError) Error() string { return e.err.Error() } // in one line, without the stack
func (e *PanicError) Unwrap() error { return e.err }

// panicked returns err as a PanicError if it is a panic.
func panicked(err error) error {
	var p *step.Panic
	if !errors.As(err, &p) {
		return err
	}
	return &PanicError{p.What, p.Value, p.Stack, err}
}

// Refused reports whether err says that a call or an evaluation was not made. limit is the field of the Budget
// that has no room for it, or "" if the run is coming to an end.
func Refused(err error) (limit string, refused bool) { return step.Refusal(err) }

// Lost reports whether err says that an evaluation was lost to a failed call of its evaluator. The search can go on.
func Lost(err error) bool { return step.IsLost(err) }
