package evolve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/fault"
	"github.com/evoalloc/evoalloc/evolve/internal/memory"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// A Work is one session: what a [Brief]'s Make may do on its child's account. What it asks and evaluates goes through the
// step's [Turn], so it is admitted, recorded, recalled and booked like all else, and calls stand in [Generation.Asides]
// with the child's ID. Its methods are safe for concurrent use, and must not be called once Make has returned. Do not use
// the step's Turn beside it: what a session asks for in another way is not known to belong to it.
//
// What Make returned is recorded if it used its Work. A session that ended is then never made again: a resumed run takes
// its program, or its error, from the journal. One that a kill or the end of the run cut short begins again. What it asks
// again is answered from the journal, by content and occurrence within the session, and paid for once.
//
// A call that is refused because the budget has no room costs the rest of the session: Make may return the best program
// that it has. Which of two concurrent sessions gets what is left of a limit is chance, and the journal keeps it. Once the
// run is coming to an end, nothing of the session stands, as it is made again.
type Work struct {
	// Seed is the child's. A session that asks with a Seed derived from it asks for something else than the session of
	// another child does.
	Seed uint32

	child  int
	turn   *Turn
	llm    llm.LLM // that the child would be asked of
	task   eval.Evaluator
	sample int // that the child is scored by
	id     record.ID

	mu    sync.Mutex
	used  bool
	asked bool   // a call of it was answered
	calls []Call // that it made, where no run notes them
	notes []string
	size  int // of the notes, in bytes
}

// work begins a session of the step for a child, whose IDs count from 1 in its arm.
func (t *Turn) work(child Child, model llm.LLM, e eval.Evaluator, sample int) *Work {
	w := &Work{Seed: child.Seed, child: child.ID, turn: t, llm: model, task: e, sample: sample}
	if !t.recording() {
		return w
	}
	s := t.step.inside(t.search)
	s.child = child.ID
	w.turn = &Turn{step: s, calls: t.calls}
	if t.journal != nil {
		w.id = t.journal.Claim(record.KeyOf("session", fmt.Sprint(t.journal.Runs()), fmt.Sprint(t.pull), t.search, fmt.Sprint(child.ID)))
		s.session = fmt.Sprintf("%s %d", hexadecimal(w.id.Key), w.id.N)
	}
	return w
}

// Ask asks l, or the brief's model if l is nil, for something on the child's account, as [Turn.Ask] does. kind is what the
// call is for: "agent".
func (w *Work) Ask(ctx context.Context, kind string, l llm.LLM, req llm.Request) (llm.Reply, error) {
	if l == nil {
		l = w.llm
	}
	if l == nil {
		return llm.Reply{}, errors.New("evolve: Work.Ask has no model: neither it nor the brief nor the Breeder names one")
	}
	w.use()
	reply, err := w.turn.Ask(ctx, kind, l, req)
	if w.turn.recording() {
		w.answered(reply.Attempts)
	} else {
		w.mu.Lock()
		w.calls = append(w.calls, Call{kind, w.child, reply.Attempts})
		w.mu.Unlock()
	}
	return reply, err
}

// answered counts a call that the child's score waits for. One is the child's own; see [driver.expected].
func (w *Work) answered(attempts []llm.Attempt) {
	if !answered(attempts) {
		return
	}
	w.mu.Lock()
	first := !w.asked
	w.asked = true
	w.mu.Unlock()
	if !first {
		w.turn.noteJudged(attempts)
	}
}

// Evaluate scores program as the child is scored, in Budget.Evaluations. The program that Make returns is not evaluated
// once more, unless its evaluator cannot be told from others. For errors see [Turn.Evaluate].
func (w *Work) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	w.use()
	return w.turn.Evaluate(ctx, w.task, program, w.sample)
}

// Tune scores program with e, or with the task if e is nil, in Budget.TuneEvaluations: a look on the way to a program. e may
// have cheaper cases. For errors see [Turn.Tune].
func (w *Work) Tune(ctx context.Context, e eval.Evaluator, program string) (eval.Result, error) {
	w.use()
	if e == nil {
		e = w.task
	}
	return w.turn.Tune(ctx, e, program)
}

// Remember returns what make returns. In a run that is recorded, so a session that begins again gets it from the journal:
// what a command printed, say, whose time is another one each time. what names it within the session; the same is
// remembered once for each time that it is asked for. An error is not remembered.
func (w *Work) Remember(ctx context.Context, what string, make func(context.Context) (string, error)) (string, error) {
	w.use()
	t := w.turn
	if !t.recording() || t.journal == nil {
		return make(ctx)
	}
	id := t.journal.Claim(record.KeyOf("remembered", t.session, what))
	r, err := t.journal.Recall(id, true)
	if err == nil && r == nil && !t.past.Ended {
		err = t.awaitLive(ctx)
	}
	switch {
	case err != nil:
		t.noteError(err)
		return "", err
	case r != nil:
		return r.Text, nil
	}
	text, err := make(ctx)
	if err != nil {
		return "", err
	}
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if err := t.journal.Write(id, record.Record{Kind: record.Session, Text: text}); err != nil {
		t.noteError(err)
		return "", err
	}
	return text, nil
}

// The bounds of a session's notes.
const (
	maxNote  = 2 << 10  // of one, in bytes
	maxNotes = 64 << 10 // of all
)

// Note adds a line to the session's transcript, for readers of the journal: a tool that was called, what it returned. A
// note is cut after 2 KiB, and a session keeps 64 KiB of them, the first ones.
func (w *Work) Note(text string) {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) > maxNote {
		text = strings.ToValidUTF8(text[:maxNote], "") + " ..."
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.size += len(text); w.size <= maxNotes {
		w.notes = append(w.notes, text)
	}
}

func (w *Work) use() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used = true
}

// do returns what the session of a Make came to: from the journal, or else made now and recorded. recalled says which.
func (w *Work) do(ctx context.Context, make func(context.Context, *Work) (string, error)) (
	program string, recalled bool, err error) {

	if program, recalled, err = w.recall(ctx); recalled || err != nil {
		return program, recalled, err
	}
	program, err = make(w.within(ctx), w)
	program = strings.ToValidUTF8(program, string(utf8.RuneError)) // as a journal keeps it
	if !w.turn.recording() {
		return program, false, err
	}
	if cut := w.cut(ctx, err); cut != nil {
		return "", false, cut
	}
	limit := w.limit()
	err = refusedBy(limit, err)
	if w.spent() && w.turn.journal != nil {
		if bad := w.record(program, limit, err); bad != nil {
			w.turn.noteError(bad)
			return "", false, bad
		}
	}
	return program, false, err
}

// within returns ctx for the session, in which llm.Ask is its Ask.
func (w *Work) within(ctx context.Context) context.Context {
	return llm.WithTrace(ctx, &llm.Trace{Ask: func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
		return w.Ask(ctx, "other", l, req)
	}})
}

// spent reports whether the session paid for anything, or could have.
func (w *Work) spent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.used
}

// made returns the calls that the session made, where no run notes them.
func (w *Work) made() []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// limit returns the field of the budget that left no room for something that the session asked for.
func (w *Work) limit() string {
	w.turn.mu.Lock()
	defer w.turn.mu.Unlock()
	return w.turn.limit
}

// refusedBy returns the error of a session that failed after the budget had refused it something: it says so too.
func refusedBy(limit string, err error) error {
	if err == nil || limit == "" {
		return err
	}
	return &fault.Abandoned{Then: err, Now: &fault.Refused{Limit: limit}}
}

// cut returns why the session does not stand, nil if it does. One that swallowed the end of the run returns less than it
// would have, and a resumed run makes it again. So it must not be recorded.
func (w *Work) cut(ctx context.Context, err error) error {
	s := w.turn.step
	s.mu.Lock()
	cut, fault := s.cut, errors.Join(s.fatal, s.doom)
	s.mu.Unlock()
	limit, refused := Refused(err)
	switch {
	case fault != nil:
		return fault
	case ctx.Err() != nil:
		return fmt.Errorf("evolve: a session: %w", context.Cause(ctx))
	case err != nil && (refused && limit == "" || fatal(err)):
		return err
	case cut:
		return fmt.Errorf("evolve: a session was cut short: %w", llm.ErrDraining)
	}
	return nil
}

// record writes the outcome of the session, on disk when it returns.
func (w *Work) record(program, limit string, err error) error {
	s := w.turn.step
	s.mu.Lock()
	r := record.Record{Kind: record.Session, Pull: &s.pull, Error: llm.NewErrorRecord(err), Limit: limit, Asked: s.asked.Told(),
		Scored: slices.Clone(s.effects)}
	s.mu.Unlock()
	w.mu.Lock()
	r.Notes = w.notes
	w.mu.Unlock()
	if program != "" {
		var bad error
		if r.Program, bad = w.turn.journal.WriteProgram(program); bad != nil {
			return bad
		}
	}
	return w.turn.journal.Write(w.id, r)
}

// recall returns the outcome of the session in an earlier incarnation, and notes what it asked for and evaluated.
func (w *Work) recall(ctx context.Context) (program string, recalled bool, err error) {
	t := w.turn
	if !t.recording() || t.journal == nil {
		return "", false, nil
	}
	r, err := t.journal.Recall(w.id, t.past.Ended)
	if r == nil || err != nil {
		return "", false, err
	}
	w.use()
	if r.Program != "" {
		if program, err = t.journal.ProgramText(r.Program); err != nil {
			return "", false, err
		}
	}
	for _, of := range r.Asked {
		if err := w.recallCall(ctx, of); err != nil {
			return "", false, err
		}
	}
	for _, of := range r.Scored {
		if err := t.recallScored(ctx, of); err != nil {
			return "", false, err
		}
	}
	if r.Limit != "" {
		t.noteError(&fault.Refused{Limit: r.Limit})
	}
	return program, true, refusedBy(r.Limit, r.Error.Err())
}

// recallCall notes a call of the session that is not made again, with those that its model made.
func (w *Work) recallCall(ctx context.Context, of record.Asked) error {
	t, asked := w.turn, &memory.Asked{}
	t.arrears.RLock()
	err := t.recallAsked(asked, []record.Asked{of})
	t.arrears.RUnlock()
	if err != nil {
		return err
	}
	t.noteCalls(madeFor(t.child, asked))
	if calls := asked.Calls(); len(calls) > 0 { // the first is the call itself
		t.silence.Hear(calls[0].Attempts)
		llm.TraceOf(ctx).Ended(calls[0].Attempts)
		w.answered(calls[0].Attempts)
	}
	return nil
}
