package evolve

import (
	"context"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/llm"
)

// A Work is one session: what a [Brief]'s Make may do on its child's account. What it asks and evaluates goes through
// the step's [Turn], so it is admitted, recorded, recalled and booked like all else, and calls stand in
// [Generation.Asides] with the child's ID. Its methods are safe for concurrent use, and must not be called once Make
// has returned. Do not use the step's Turn beside it: what a session asks for in another way is not known to belong
// to it.
//
// What Make returned is recorded if it used its Work. A session that ended is then never made again: a resumed run
// takes its program, or its error, from the journal. One that a kill or the end of the run cut short begins again.
// What it asks again is answered from the journal, by content and occurrence within the session, and paid for once.
//
// A call that is refused because the budget has no room costs the rest of the session: Make may return the best
// program that it has. Which of two concurrent sessions gets what is left of a limit is chance, but for what
// [Work.Reserve] sets aside, and the journal keeps it. Once the run is coming to an end, nothing of the session stands, as it is made again.
type Work struct {
	// Seed is the child's. A session that asks with a Seed derived from it asks for something else than the session of
	// another child does.
	Seed uint32

	session *step.Session
}

// Ask asks l, or the brief's model if l is nil, for something on the child's account, as [Turn.Ask] does. kind is
// what the call is for: "agent".
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
