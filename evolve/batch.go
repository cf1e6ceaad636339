package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A batch is the children of one step while they are made.
//
// The goroutine that calls Breed owns it, and calls brief and take. Each child is made on a goroutine of its
// own, which touches nothing but its child and sends it back on ended. So an archive or an operator is written
// without locks. The design that was rejected is a queue of events that the search reads: every search would
// then have a loop of its own around it, with mistakes of its own.
//
// It ends in one of five ways, of which the first that applies stands:
//
//	what happened                     begins more  sends more  err              limit      the step
//	ctx ended: grace or time is over  no           no          ctx's cause      as it was  is cut short, and made again
//	fail: a fault, or a panic         no           no          the first fault  as it was  failed, and is made again
//	why: the run drains               no           no          why              as it was  is cut short, and made again
//	limit: the budget has no room     yes, which   yes         nil              of lowest  is whole, with fewer children
//	for a child                       are refused                               index
//	all children were begun           -            -           nil              ""         is whole
//
// In each, children that are under way are awaited and taken in, because they are paid for.
type batch struct {
	*Breeder
	turn  *Turn
	step  *step.Step // of the turn
	n     int        // children to be made
	brief func(i int) Brief
	take  func(Child)

	queue   *step.Queue[bredChild]
	ended   chan bredChild
	stop    chan struct{} // closed when nothing more is to be sent
	stopped bool          // stop is closed
	granted chan struct{} // closed when the sessions begun so far have set their calls aside
	paused  step.Count    // children whose call pauses before a retry
	pause   step.Signal   // that one began to
	taken   []bredChild   // in the order in which they were
	err     error         // what ends the search
	limit   string        // the field of the budget that left no room for more
	refused int           // the lowest index of a child that it refused
	why     error         // why some were not sent although nothing failed: the run is coming to an end
}

// A bredChild is a child that has ended, and how it was made.
type bredChild struct {
	child    Child
	brief    Brief
	proposer Proposer
	pull     *bandit.Pull // that drew it; nil for none
	call     record.ID    // of its call in a journal, or its session
	recalled bool         // its reply, or how its session ended, is from there
	lost     bool         // a failed call cost it its evaluation
	spent    bool         // its session used its Work
	idle     bool         // its Prepare had nothing to ask for
	turn     step.Turn    // of its session, to set calls aside
	err      error        // more than the failure of one child
}

func newBatch(b *Breeder, turn *Turn, n int) *batch {
	var repeat []int
	s := turn.of()
	if b.Order == AsTheyEnd && s != nil {
		repeat = s.Past.Taken
	}
	first := make(chan struct{})
	close(first)
	return &batch{Breeder: b, turn: turn, step: s, n: n, granted: first,
		queue: step.NewQueue[bredChild](n, b.Window, b.Order == ByIndex, repeat),
		ended: make(chan bredChild), stop: make(chan struct{}), taken: make([]bredChild, 0, n), pause: step.NewSignal()}
}

// Breed makes n children, or fewer if turn grants fewer calls. brief is called for each child in order of
// index. take, if not nil, is called with each child that ended, in the Breeder's Order. It is called before the
// brief of the child that gets its slot in the window. Both are called on the caller's goroutine, so a search
// is plain sequential code however many calls are in flight.
//
// The Generation has the children, and says why there are no more. Its Best is the best child so far by a
// single score, or the one that [Breeder.Lead] was called with last.
//
// An error is a fault of the infrastructure and ends the search: later calls return it again. To try again in
// the next step would ask an endpoint that is gone once a step until the budget ends.
func (b *Breeder) Breed(ctx context.Context, turn *Turn, n int, brief func(i int) Brief, take func(Child)) (
	Generation, error) {

	if err := b.Start(ctx, turn); err != nil {
		return Generation{Index: b.now.number + 1, Before: b.Best(), Best: b.Best(), Partial: true}, err
	}
	b.now = breederStep{number: b.now.number + 1, before: Child{Candidate: b.best, ID: b.bestID}}
	begin := time.Now()
	l := newBatch(b, turn, min(n, turn.Calls()))
	b.widest = max(b.widest, l.queue.Window())
	if b.sampling != nil {
		b.sampling.Begin(l.n)
	}
	b.listen(turn)
	l.brief, l.take = brief, take
	l.breed(ctx)
	b.err = l.err
	gen := l.generation()
	gen.Before, gen.Best, gen.Elapsed = b.now.before.Candidate, b.best, time.Since(begin)
	if elapsed := turn.of().Timed(gen.Elapsed); b.err == nil {
		b.past = append(b.past, madeOf(l.taken, gen.Before, elapsed, b.Strict))
	}
	return gen, b.err
}

// madeOf returns what a Breadth sees of a step's children.
func madeOf(taken []bredChild, before eval.Candidate, elapsed time.Duration, strict bool) Made {
	m := Made{Children: len(taken), Elapsed: elapsed}
	for _, b := range taken {
		c, parents := b.child, b.brief.Request.Parents
		if c.Scored() && c.Better(before) {
			m.Better++
			m.Kept++
		} else if c.Scored() && c.Result.Valid && !strict && !before.Better(c.Candidate) &&
			(len(parents) == 0 || c.Program != parents[0].Program) {
			m.Kept++
		}
	}
	return m
}

// mostFailures is how many calls in a row may fail in steps of n children.
func (b *Breeder) mostFailures(n int) int { return cmp.Or(b.MaxFailures, max(2*n, 32)) }

// breed makes the children. It begins as many as the window holds, and another one for each that it takes in.
//
// A child is taken in only when the window is full again, for the reason that [step.Queue] gives.
func (l *batch) breed(ctx context.Context) {
	outer := llm.TraceOf(ctx)
	ctx, end := l.untilStopped(ctx)
	defer end()
	for {
		l.fill(ctx, outer)
		if m, known, ok := l.queue.Next(); ok {
			if !known {
				l.record(m.child.Index)
			}
			l.takeIn(m)
			continue
		}
		if l.queue.Running() == 0 {
			l.stuck(ctx)
			break
		}
		select {
		case m := <-l.ended:
			l.end(m)
		case <-l.pause:
		}
	}
	// Those that wait for one that was never sent were paid for. Their order is not recorded, as nothing is asked
	// after them: it would stand twice in the journal once the step is made again, and stop a later resume for ever.
	for m := range l.queue.Rest() {
		l.takeIn(m)
	}
	// The end of the context is the cause of the children's errors, so it is what the step returns. If every
	// child came to its end all the same, the step is whole: its replay, in which time never is up, is whole too.
	if ctx.Err() != nil && (l.err != nil || l.why != nil || !l.allBegun()) {
		l.err = fmt.Errorf("evolve: step %d: %w", l.now.number, context.Cause(ctx))
	}
	if l.err == nil {
		l.err = l.why
	}
}

// allBegun reports whether every child of the step was begun.
func (l *batch) allBegun() bool {
	_, all := l.queue.Begun()
	return all
}

// stuck ends the search if nothing runs, children are left to be made, and the journal says that the next one
// taken in was a child which this search has not even begun. The journal then tells of another search. Without
// this the step would end early and be reported as whole, with fewer children than were paid for.
func (l *batch) stuck(ctx context.Context) {
	if child, ok := l.queue.Missing(); ok && l.err == nil && l.why == nil && ctx.Err() == nil && !l.allBegun() {
		l.fail(fmt.Errorf("evolve: pull %d took child %d in next, which this run has not begun by then: %w",
			l.step.Pull, child, journal.ErrDiverged))
	}
}

// fill begins children until the window is full, unless the search or the run is coming to an end. It asks the
// run's own trace, outer, as that of ctx drains only once a goroutine has seen that the run does.
func (l *batch) fill(ctx context.Context, outer *llm.Trace) {
	for !l.allBegun() && l.err == nil && l.why == nil && ctx.Err() == nil && l.room() {
		if l.why = outer.Draining(); l.why == nil {
			l.begin(ctx)
		}
	}
}

// room reports whether one more child is begun, and records that one is begun beyond the window.
func (l *batch) room() bool {
	room, beyond, decided := l.queue.Room(l.paused.N())
	if decided {
		l.record(record.Beyond)
	}
	return room || beyond && l.err == nil
}

// untilStopped returns a context whose calls are not sent once the run, or the search, is coming to an end. The
// context itself does not end then: what was sent is paid for, and its answer may be the best one. To cancel
// the siblings of a child that met a 401 threw away up to N-1 answers, which were charged at their worst case.
func (l *batch) untilStopped(ctx context.Context) (context.Context, func()) {
	outer := llm.TraceOf(ctx).Drain
	drain, done, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-outer:
			close(drain)
		case <-l.stop:
			close(drain)
		case <-done:
		}
	}()
	// The returned func waits for the goroutine, so that none outlives the step.
	return llm.WithTrace(ctx, &llm.Trace{Drain: drain}), func() { close(done); <-gone }
}

// halt stops sending. Children whose call was not sent yet end without an attempt.
func (l *batch) halt() {
	if !l.stopped {
		l.stopped = true
		close(l.stop)
	}
}

// begin briefs the next child and begins it. Its ID counts the children that were briefed, not those that were
// made. So an ID is the same when the step is made again, even if some children were not sent the first time.
func (l *batch) begin(ctx context.Context) {
	i := l.queue.Begin()
	l.born++
	var brief Brief
	l.proposing.drawn = nil
	err := l.call("a brief", func() { brief = l.brief(i) })
	if err != nil {
		l.fail(err)
		return
	}
	if brief.Seed == 0 { // else equal prompts would be equal requests, and many replies alike
		brief.Seed = ChildSeed(0, l.n, l.now.number-1, i)
	}
	m := bredChild{brief: brief, child: Child{Index: i, ID: l.born, Parents: brief.From, Operator: brief.Operator,
		Labels: brief.Labels, Seed: brief.Seed}}
	if err = l.choose(&m); err == nil && brief.Make == nil && m.model(l.Breeder) == nil {
		err = errors.New("evolve: a child has no model: neither its brief nor its proposer nor its search has one")
	}
	if err != nil {
		l.fail(err)
		return
	}
	l.queue.Run()
	own := make(chan struct{})
	m.turn = step.Turn{After: l.granted, Done: sync.OnceFunc(func() { close(own) })}
	if brief.Make != nil {
		l.granted = own
	}
	go func() {
		enlarge()
		defer m.turn.Done()
		defer func() { l.ended <- m }() // always, as breed waits for every child that runs
		// This error stands only if runtime.Goexit, which guard cannot recover, ends the goroutine.
		m.err = fmt.Errorf("evolve: making child %d of step %d ended its goroutine", i, l.now.number)
		what := fmt.Sprintf("making child %d of step %d", i, l.now.number)
		if bad := step.Guard(what, func() { m.err = l.make(ctx, &m) }); bad != nil {
			m.err = bad
			m.child.Err = bad.Error()
		}
	}()
}

// enlarge makes room on the stack of a new goroutine for what making a child needs. Where the stack grows bit by bit
// under deep calls, copying it takes more time than all else of a child that is recalled from a journal.
//
//go:noinline
func enlarge() {
	var room [6 << 10]byte
	runtime.KeepAlive(&room)
}

// end takes note of a child as soon as it has ended. An error that ends the search must not wait for the child's turn:
// behind one slow child an endpoint that is gone would be asked hundreds of times.
func (l *batch) end(m bredChild) {
	switch limit, refused := Refused(m.err); {
	case refused && limit == "":
		if !l.stopped { // else it was not sent because of a sibling, whose error is the reason
			l.why = m.err
		}
	case refused:
		// The budget has no room. Later children are not halted, and each is refused by itself. How many were
		// asked before this one ended is chance, and replay has to find the same record of each.
		if l.limit == "" || m.child.Index < l.refused {
			l.limit, l.refused = limit, m.child.Index
		}
	default:
		l.fail(m.err)
	}
	if !m.recalled {
		what := "model calls"
		if m.brief.Make != nil {
			what = "children"
		}
		l.fail(l.failing.Note(what, m.attempts(), errors.New(m.child.Err), l.mostFailures(l.n)))
	}
	l.queue.End(m.child.Index, m)
	if l.OnChild != nil && m.made() {
		l.fail(step.Guard("OnChild", func() { l.OnChild(m.child) }))
	}
}

// attempts returns those of the child's call. A Make that failed without asking for anything counts as a call that
// failed: a search whose every Make fails would use up no budget, and never end.
func (m bredChild) attempts() []llm.Attempt {
	if m.brief.Make != nil && !m.spent && !m.child.HasProgram() {
		return []llm.Attempt{{Status: llm.Failed}}
	}
	return m.child.Attempts
}

// made reports whether the child belongs in the generation: it cost something, has a program, or failed by itself.
func (m bredChild) made() bool {
	return m.err == nil || m.child.Asked() || m.spent || m.child.HasProgram()
}

// call calls f, a brief or a take, and returns what it panics with, or what [Breeder.Fail] was given.
func (l *batch) call(what string, f func()) error {
	if err := step.Guard(what, f); err != nil {
		return err
	}
	return l.failed
}

// fail ends the search with err, if there is one. The first error stands, as later ones often follow from it.
func (l *batch) fail(err error) {
	if err == nil {
		return
	}
	l.err = cmp.Or(l.err, err)
	l.step.Drain(err)
	l.halt()
}

// takeIn gives a child to the search.
func (l *batch) takeIn(m bredChild) {
	if !m.made() { // it was never sent
		if m.pull != nil {
			_ = l.proposing.player.Cancel(m.pull.ID) // cannot fail: it is pending
		}
		if limit, _ := Refused(m.err); limit != "" {
			l.tell(m)
		}
		return
	}
	if l.idle++; !m.idle {
		l.idle = 0
	}
	l.Breeder.takeIn(m.child) // first, so that take and the next brief see the best that includes it
	if l.take != nil {
		l.fail(l.call("taking a child in", func() { l.take(m.child) }))
	}
	l.fail(l.credit(&m))
	l.taken = append(l.taken, m)
	l.tell(m) // last, so that what the search says of where the child stands is told too
}

// tell tells the journal's readers and the observer what became of a child.
func (l *batch) tell(m bredChild) {
	if l.step != nil {
		l.fail(l.turn.tell(birth{child: m.child, step: l.now.number, call: m.call, err: m.err, lost: m.lost}))
	}
}

// record records that a child is taken in next, or record.Beyond, before the search acts on it. The order of indices
// needs no record. The child's answer is on disk already, and stands before this record.
func (l *batch) record(child int) {
	if l.Order == ByIndex || l.step == nil || l.step.Journal == nil || l.step.Past.Ended {
		return
	}
	if l.err != nil || l.why != nil {
		// The step is cut short and will be made again. Then children that were not sent now are among those that
		// are taken in, so the order from here on is not the step's.
		return
	}
	l.fail(l.step.Journal.Take(l.step.Pull, child))
}

// model returns the model that the child is asked of.
func (m *bredChild) model(b *Breeder) llm.LLM { return cmp.Or(m.brief.LLM, m.proposer.LLM, b.LLM) }

// parent returns the program that the child is made from first, and none if its brief has none.
func (m *bredChild) parent() (parent eval.Candidate) {
	if len(m.brief.Request.Parents) > 0 {
		parent = m.brief.Request.Parents[0]
	}
	return parent
}

// generation returns the children that were made, by index, and the limit that kept others from being made.
func (l *batch) generation() Generation {
	gen := Generation{Index: l.now.number, Width: l.n, Limit: l.limit, Partial: l.err != nil}
	for _, m := range l.taken {
		gen.Children = append(gen.Children, m.child)
	}
	slices.SortFunc(gen.Children, func(a, b Child) int { return cmp.Compare(a.Index, b.Index) })
	return gen
}

// make makes the child: a proposal, and its score. An error ends the search; the Err of the child costs it alone.
func (l *batch) make(ctx context.Context, m *bredChild) error {
	program, err := l.propose(ctx, m)
	if program == "" || err != nil {
		return err
	}
	c := &m.child
	c.Program = program
	if m.brief.Admit != nil {
		why, err := m.brief.Admit(l.judging(ctx), program)
		if ok, err := m.admitted(why, err); !ok {
			return err
		}
	}
	if c.Result, err = l.step.Score(ctx, l.Task, program, l.sample(c)); err == nil {
		return nil
	}
	c.Err = err.Error()
	if m.lost = Lost(err); m.lost {
		return nil
	}
	if _, refused := Refused(err); refused || ctx.Err() != nil {
		// One text for every way in which a run ends, because replay abandons the evaluation for another reason.
		c.Err = "its evaluation was abandoned: the run came to an end"
		if limit, _ := Refused(err); limit != "" {
			c.Err = err.Error()
		}
	}
	return fmt.Errorf("evolve: evaluating child %d of step %d: %w", c.Index, l.now.number, err)
}

// judging returns ctx for a Prepare or an Admit, whose calls of models are asides, also of a child that fails.
func (l *batch) judging(ctx context.Context) context.Context {
	if l.step == nil {
		return ctx
	}
	return llm.WithTrace(ctx, &llm.Trace{Ended: l.step.Judged})
}

// admitted takes in what a Prepare or an Admit returned, and reports whether the child goes on, or what ends the
// search.
func (m *bredChild) admitted(why string, err error) (ok bool, ends error) {
	switch {
	case err != nil:
		m.child.Err = err.Error()
		if m.lost = Lost(err); m.lost {
			return false, nil
		}
		return false, err
	case why != "":
		m.child.Err = why
	}
	return why == "", nil
}

// sample returns the number of the sample that a child is scored by. Where scores are noisy it is the child's own: of
// two equal programs, which is evaluated first is chance, and a resumed run has to find the score of each.
func (l *batch) sample(c *Child) int {
	if l.Noise == nil {
		return 0
	}
	return 1 + int(c.Seed)
}

// propose returns the child's program, or "" if it has none; its Err then says why.
func (l *batch) propose(ctx context.Context, m *bredChild) (program string, err error) {
	c := &m.child
	if m.brief.Make != nil {
		s := l.step.Session(c.ID, m.model(l.Breeder), l.Task, l.sample(c), m.turn)
		w := &Work{Seed: c.Seed, session: s}
		program, m.recalled, err = s.Do(ctx, func(ctx context.Context) (string, error) { return m.brief.Make(ctx, w) })
		if m.spent = s.Spent(); m.spent {
			m.call = s.ID()
		}
		if err != nil {
			c.Err = err.Error()
			return "", step.Lasting(ctx, err)
		}
		return program, nil
	}
	if m.brief.Prepare != nil {
		ask, why, err := m.brief.Prepare(l.judging(ctx), m.brief.Request)
		if m.idle = why != "" && err == nil; m.idle {
			l.step.Idled()
		}
		if ok, err := m.admitted(why, err); !ok {
			return "", err
		}
		m.brief.Request = ask
	}
	messages := m.brief.Messages
	if messages == nil {
		ask := m.brief.Request
		ask.Instruction = cmp.Or(ask.Instruction, m.proposer.Instruction)
		messages = l.Task.Prompt(ask)
	}
	ctx = llm.WithTrace(ctx, &llm.Trace{Paused: step.Both(l.pausing, llm.TraceOf(ctx).Paused)})
	reply, err := l.step.AskForChild(ctx, m.model(l.Breeder), llm.Request{Messages: m.proposer.tell(messages), Seed: c.Seed})
	m.call, m.recalled = reply.ID, reply.Recalled
	c.Attempts = reply.Attempts // of a failed call too: they were paid for
	if err != nil {
		c.Err = err.Error()
		return "", step.Lasting(ctx, err)
	}
	program, c.Mended, err = l.parse(m, reply.Text)
	if reply.Recalled {
		var lost error
		if program, err, lost = l.reread(reply.ID, program, err); lost != nil {
			return "", lost
		}
	}
	if err != nil {
		c.Err = err.Error() // a bad reply is data, and costs this child alone
		if strings.TrimSpace(reply.Text) == "" && reply.Reasoning != "" {
			c.Err = "the answer is empty: all that the model wrote stands in its reasoning"
		}
		return "", nil
	}
	return program, nil
}

// pausing counts a call that pauses before a retry, until resumed is called. It never blocks: a model may leave a call
// behind that pauses when its batch has come to its end.
func (l *batch) pausing() (resumed func()) {
	resumed = l.paused.Begin()
	l.pause.Set()
	return resumed
}

// reread returns what a recalled reply was read as when it came, and program and why, as it is read now, if the journal
// does not say. So a journal by a version that read replies in another way goes on as it began.
func (l *batch) reread(id record.ID, program string, why error) (_ string, whyNot, err error) {
	then, known, err := l.step.Journal.ReadAs(id)
	switch {
	case err != nil || !known || strings.TrimSpace(then) == strings.TrimSpace(program):
		return program, why, err
	case then == "":
		return "", errors.New("the reply held no program when it came"), nil
	}
	return then, nil, nil
}

// parse reads the program out of a reply, and says what it mended in the reply.
func (l *batch) parse(m *bredChild, text string) (program, mended string, err error) {
	b := m.brief
	if b.Parse != nil {
		program, err = b.Parse(text)
	} else {
		program, mended, err = task.Parse(l.Task,
			task.Reply{Text: text, Parent: m.parent().Program, Form: b.Form, Part: b.Part})
	}
	if err == nil && program == "" {
		err = errors.New("the reply holds no program")
	}
	return program, mended, err
}
