package step

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// A Session is what one child is made in, if a brief's Make makes it: the inside of evolve's Work. Its methods are
// safe for concurrent use.
type Session struct {
	step   *Step   // of its own, within that of the child
	llm    llm.LLM // that the child would be asked of
	task   eval.Evaluator
	sample int // that the child is scored by
	id     record.ID
	turn   Turn

	mu    sync.Mutex
	used  bool
	asked bool // a call of it was answered
	notes []string
	size  int // of the notes, in bytes
}

// A Turn has sessions set calls aside in order: After is closed when the one before has, and Done is called when this
// one has, or has asked for something without.
type Turn struct {
	After <-chan struct{}
	Done  func()
}

// Session begins a session for a child, whose IDs count from 1 in its arm. One of an arm that is stepped by hand has
// the run for itself.
func (s *Step) Session(child int, model llm.LLM, e eval.Evaluator, sample int, turn Turn) *Session {
	w := &Session{llm: model, task: e, sample: sample, turn: turn}
	if s == nil {
		free := NewLedger(Limits{Passed: func(Amounts) string { return "" }, Stalls: -1}, Amounts{})
		s = &Step{Run: &Run{TuneEvaluations: math.MaxInt, Ledger: free, Programs: NewPrograms()},
			Over: func() bool { return false }, Failing: &Streak{}}
	}
	w.step = s.inside(child)
	w.step.grant = &Grant{}
	if s.Journal != nil {
		// "" stands for a name that sessions no longer have, so that earlier journals still fit.
		w.id = s.Journal.Claim(record.KeyOf("session", fmt.Sprint(s.Journal.Runs()), fmt.Sprint(s.Pull), "",
			fmt.Sprint(child)))
		w.step.session = fmt.Sprintf("%s %d", hexadecimal(w.id.Key), w.id.N)
	}
	return w
}

// ID returns what the journal knows the session by.
func (w *Session) ID() record.ID { return w.id }

// Ask asks l, or the brief's model if l is nil.
func (w *Session) Ask(ctx context.Context, kind string, l llm.LLM, req llm.Request) (llm.Reply, error) {
	if l == nil {
		l = w.llm
	}
	if l == nil {
		return llm.Reply{}, errors.New("evolve: Work.Ask has no model: neither it nor the brief nor the Breeder names one")
	}
	w.use()
	reply, err := w.step.Ask(ctx, kind, l, req)
	w.answered(reply.Attempts)
	return reply, err
}

// answered counts a call that the child's score waits for. One is the child's own, which a run expects anyway.
func (w *Session) answered(attempts []llm.Attempt) {
	w.mu.Lock()
	first := !w.asked
	w.asked = w.asked || Answered(attempts)
	w.mu.Unlock()
	if !first {
		w.step.Judged(attempts)
	}
}

// Evaluate scores program as the child is scored.
func (w *Session) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	w.use()
	return w.step.Evaluate(ctx, w.task, program, w.sample)
}

// Tune scores program with e, or with the task if e is nil.
func (w *Session) Tune(ctx context.Context, e eval.Evaluator, program string) (eval.Result, error) {
	w.use()
	if e == nil {
		e = w.task
	}
	return w.step.Tune(ctx, e, program)
}

// Reserve sets n calls of the budget aside for the session, or as many as are left, and returns how many. Sessions of
// a step are served in order of index.
func (w *Session) Reserve(ctx context.Context, n int) (int, error) {
	t, drain := w.step, llm.TraceOf(ctx).Drain
	select {
	case <-w.turn.After:
	case <-drain:
	case <-ctx.Done():
	}
	defer w.turn.Done()
	live := false
	text, err := w.remember(ctx, "calls", func(ctx context.Context) (string, error) {
		live = true
		granted, err := t.Ledger.Grant(ctx, drain, t.grant, n)
		if limit := refusedBy(err); limit != "" {
			return limit, nil // stands for good, as a refused call does
		}
		return fmt.Sprint(granted), err
	})
	if err == nil {
		if n, err = strconv.Atoi(text); err != nil {
			err = &Refused{Limit: text}
		}
	}
	if err != nil {
		t.noteError(err)
		return 0, err
	}
	if !live {
		t.Ledger.Again(t.grant, n)
	}
	return n, nil
}

// Remember returns what make returns, or what the journal has of an earlier incarnation.
func (w *Session) Remember(ctx context.Context, what string, make func(context.Context) (string, error)) (
	string, error) {

	w.use()
	return w.remember(ctx, what, make)
}

func (w *Session) remember(ctx context.Context, what string, make func(context.Context) (string, error)) (
	text string, err error) {

	t := w.step
	if t.Journal == nil {
		return make(ctx)
	}
	id := t.Journal.Claim(record.KeyOf("remembered", t.session, what))
	r, _, err := t.Journal.Recall(id, true)
	if r != nil && err == nil {
		return r.Text, nil
	}
	if err == nil && !t.Past.Ended {
		err = t.awaitLive(ctx)
	}
	if err != nil {
		t.noteError(err)
		return "", err
	}
	if text, err = make(ctx); err != nil {
		return "", err
	}
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if err = t.Journal.Write(id, record.Record{Kind: record.Session, Text: text}); err != nil {
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

// Note adds a line to the transcript, within the bounds.
func (w *Session) Note(text string) {
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

func (w *Session) use() {
	w.turn.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used = true
}

// Spent reports whether the session paid for anything, or could have.
func (w *Session) Spent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.used
}

// Do returns how the session ended: from the journal, or else made now and recorded. recalled says which.
func (w *Session) Do(ctx context.Context, make func(context.Context) (string, error)) (
	program string, recalled bool, err error) {

	if program, recalled, err = w.recall(ctx); recalled || err != nil {
		return program, recalled, err
	}
	s := w.step
	defer func() { s.Ledger.GiveBack(s.grant, math.MaxInt) }()
	program, err = make(llm.WithTrace(ctx, &llm.Trace{
		Ask: func(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
			return w.Ask(ctx, "other", l, req)
		}}))
	program = strings.ToValidUTF8(program, string(utf8.RuneError)) // as a journal keeps it
	if cut := w.cut(ctx, err); cut != nil {
		return "", false, cut
	}
	limit := s.Account().Limit
	err = alsoRefused(limit, err)
	if w.Spent() && s.Journal != nil {
		if bad := w.record(program, limit, err); bad != nil {
			s.noteError(bad)
			return "", false, bad
		}
	}
	return program, false, err
}

// alsoRefused returns the error of a session that failed after the budget had refused it something: it says so too.
func alsoRefused(limit string, err error) error {
	if err == nil || limit == "" {
		return err
	}
	return &Abandoned{Then: err, Now: &Refused{Limit: limit}}
}

// cut returns why the session does not stand, nil if it does. One that swallowed the end of the run returns less than
// it would have, and a resumed run makes it again. So it must not be recorded.
func (w *Session) cut(ctx context.Context, err error) error {
	s := w.step
	s.mu.Lock()
	cut, bad := s.account.Cut, errors.Join(s.account.Fatal, s.doom)
	s.mu.Unlock()
	limit, refused := Refusal(err)
	switch {
	case bad != nil:
		return bad
	case ctx.Err() != nil:
		return fmt.Errorf("evolve: a session: %w", context.Cause(ctx))
	case err != nil && (refused && limit == "" || Fatal(err)):
		return err
	case cut:
		return fmt.Errorf("evolve: a session was cut short: %w", llm.ErrDraining)
	}
	return nil
}

// record writes how the session ended, on disk when it returns.
func (w *Session) record(program, limit string, err error) (bad error) {
	s := w.step
	r := record.Record{Kind: record.Session, Pull: &s.Pull, Error: llm.NewErrorRecord(err), Limit: limit}
	s.mu.Lock()
	r.Asked, r.Scored = slices.Clone(s.asked), slices.Clone(s.effects)
	s.mu.Unlock()
	w.mu.Lock()
	r.Notes = w.notes
	w.mu.Unlock()
	if program != "" {
		if r.Program, bad = s.Journal.WriteProgram(program); bad != nil {
			return bad
		}
	}
	return s.Journal.Write(w.id, r)
}

// recall returns how the session ended in an earlier incarnation, and notes what it asked for and evaluated.
func (w *Session) recall(ctx context.Context) (program string, recalled bool, err error) {
	t := w.step
	if t.Journal == nil {
		return "", false, nil
	}
	r, _, err := t.Journal.Recall(w.id, t.Past.Ended)
	if r == nil || err != nil {
		return "", false, err
	}
	w.use()
	if r.Program != "" {
		if program, err = t.Journal.ProgramText(r.Program); err != nil {
			return "", false, err
		}
	}
	t.arrears.RLock()
	made, err := t.recallAsked(r.Asked)
	t.arrears.RUnlock()
	for _, c := range made {
		c.Child = t.child
		t.noteCalls(c)
		t.silence.Hear(c.Attempts)
		llm.TraceOf(ctx).Ended(c.Attempts)
		w.answered(c.Attempts)
	}
	for _, of := range r.Scored {
		if err == nil {
			err = t.recallScored(ctx, of)
		}
	}
	if err != nil {
		return "", false, err
	}
	if r.Limit != "" {
		t.noteError(&Refused{Limit: r.Limit})
	}
	return program, true, alsoRefused(r.Limit, r.Error.Err())
}
