package evolve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A litter is the children of one step while they are made.
//
// The goroutine that calls Breed owns it, and calls brief and take; each child is made on a goroutine of its
// own, which touches nothing but its child and sends it back on ended. So an archive or an operator is written
// without locks. A queue of events that the search reads was the other way: every search would then have its
// own loop around it, and its own mistakes in it.
type litter struct {
	*Breeder
	turn  *Turn
	n     int // children to be made
	brief func(i int) Brief
	take  func(Child)

	ended   chan made
	stop    chan struct{} // closed when nothing more is to be sent
	stopped bool
	running int          // children under way
	next    int          // the child to be briefed next
	waiting map[int]made // that have ended and wait to be taken in
	turnOf  int          // the child to be taken in next, by index
	repeat  []int        // those to be taken in next, as a journal has it
	taken   []made       // in that order
	err     error        // what ends the search
	limit   string       // of the budget, that left no room for more
	refused int          // the child of lowest index that it refused
	why     error        // why some were not sent, though nothing failed
}

// made is a child that has ended.
type made struct {
	child    Child
	brief    Brief
	recalled bool  // its reply comes from a journal
	err      error // more than the failure of one child
}

func newLitter(b *Breeder, turn *Turn, n int) *litter {
	l := &litter{Breeder: b, turn: turn, n: n, ended: make(chan made), stop: make(chan struct{}), waiting: make(map[int]made)}
	if b.Order == AsTheyEnd && turn.recording() {
		l.repeat = turn.past.Taken
	}
	return l
}

// breed makes the children: it begins as many as the window holds, and for each that it takes in another.
//
// A child that has ended and waits for its turn keeps its place in the window, and a child is taken in only
// when the window is full again, also where several have ended. Otherwise the child that is briefed next, and
// what its brief knows, would depend on how many ended early, and ByIndex would not be by index any more.
func (l *litter) breed(ctx context.Context) {
	ctx, end := l.untilStopped(ctx)
	defer end()
	for {
		l.fill(ctx)
		if m, ok := l.turnNow(); ok {
			l.record(m)
			l.takeIn(m)
			continue
		}
		if l.running == 0 {
			l.stuck(ctx)
			break
		}
		m := <-l.ended
		l.running--
		l.end(m)
	}
	l.takeRest()
	if ctx.Err() != nil && (l.err != nil || l.why != nil || l.next < l.n) {
		// The children's errors only follow from it; without any they are whole.
		l.err = fmt.Errorf("evolve: step %d: %w", l.steps, context.Cause(ctx))
	}
	if l.err == nil {
		l.err = l.why
	}
	if l.Order == ByIndex {
		l.teachAll()
	}
}

// stuck ends the search if children wait for one that a journal says was taken in before them, and that one is
// never briefed: the journal tells of another search.
func (l *litter) stuck(ctx context.Context) {
	if l.err == nil && l.why == nil && ctx.Err() == nil && l.next < l.n {
		l.fail(fmt.Errorf("evolve: pull %d took child %d in next, which this run has not begun by then: %w",
			l.turn.pull, l.repeat[0], journal.ErrDiverged))
	}
}

// fill begins children until the window is full, unless the search or the run is coming to an end.
func (l *litter) fill(ctx context.Context) {
	for l.running+len(l.waiting) < l.window() && l.next < l.n && l.err == nil && l.why == nil && ctx.Err() == nil {
		if l.why = llm.TraceOf(ctx).Draining(); l.why == nil {
			l.begin(ctx)
		}
	}
}

func (l *litter) window() int {
	if l.Window == 0 {
		return l.n
	}
	return l.Window
}

// untilStopped returns ctx for calls that are not sent any more once the run is coming to an end, or the
// search is. The context itself does not end: what was sent is paid for, and its answer may be the best one.
// To cancel the siblings of a child that met a 401 threw away up to N-1 answers, charged at their worst case.
func (l *litter) untilStopped(ctx context.Context) (context.Context, func()) {
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
	return llm.WithTrace(ctx, &llm.Trace{Drain: drain}), func() { close(done); <-gone }
}

// halt lets nothing more be sent.
func (l *litter) halt() {
	if !l.stopped {
		l.stopped = true
		close(l.stop)
	}
}

// begin briefs the next child and begins it. Its ID counts children briefed and not those that came to be, so
// that it is the same in replay, whatever was not sent then.
func (l *litter) begin(ctx context.Context) {
	i := l.next
	l.next++
	l.born++
	var brief Brief
	if err := guard("a brief", func() { brief = l.brief(i) }); err != nil {
		l.fail(err)
		return
	}
	if brief.Seed == 0 { // else equal prompts would be equal requests, and many replies alike
		brief.Seed = ChildSeed(0, l.n, l.steps-1, i)
	}
	m := made{brief: brief, child: Child{Index: i, ID: l.born, Parents: brief.Parents, Operator: brief.Operator, Seed: brief.Seed}}
	l.running++
	go func() {
		defer func() { l.ended <- m }() // also if a panic or Goexit ends it
		m.err = fmt.Errorf("evolve: making child %d of step %d ended its goroutine", i, l.steps)
		if bad := guard(fmt.Sprintf("making child %d of step %d", i, l.steps), func() { m.err = l.make(ctx, &m) }); bad != nil {
			m.err = bad
			m.child.Err = bad.Error()
		}
	}()
}

// end takes note of a child that has ended, as soon as it has. What ends the search must not wait for the
// child's turn: behind a slow child of lower index, an endpoint that is gone would be asked hundreds of times.
func (l *litter) end(m made) {
	switch limit, refused := Refused(m.err); {
	case refused && limit == "":
		if !l.stopped {
			l.why = m.err // siblings that were sent go on
		}
	case refused:
		// Those that come later are refused each by itself, and not halted here: which of them were asked
		// before this one ended is chance, and a journal has to have the same of each in replay.
		if l.limit == "" || m.child.Index < l.refused {
			l.limit, l.refused = limit, m.child.Index
		}
	case m.err != nil:
		l.fail(m.err)
	}
	if !m.recalled {
		if bad := l.failing.note(llm.Reply{Attempts: m.child.Attempts}, errors.New(m.child.Err), l.mostFailures(l.n)); bad != nil {
			l.fail(bad)
		}
	}
	l.waiting[m.child.Index] = m
	if l.OnChild != nil && m.made() {
		if bad := guard("OnChild", func() { l.OnChild(m.child) }); bad != nil {
			l.fail(bad)
		}
	}
}

// made reports whether there is anything of the child: it cost something, or there is a program.
func (m made) made() bool {
	return m.err == nil || m.child.Asked() || m.child.HasProgram()
}

// fail ends the search with err. The first stands.
func (l *litter) fail(err error) {
	if l.err == nil {
		l.err = err
	}
	l.halt()
}

// turnNow returns the child that has ended and is to be taken in next, if it is there. In replay of children
// taken as they end that is the one that the journal has next: what a search makes of its children depends on
// the order, and answers from a file come in no order at all.
func (l *litter) turnNow() (m made, ok bool) {
	i := l.turnOf
	switch {
	case l.Order == ByIndex:
	case len(l.repeat) > 0:
		i = l.repeat[0]
	case len(l.waiting) > 0: // several only where a journal is at its end
		i = slices.Min(slices.Collect(maps.Keys(l.waiting)))
	}
	m, ok = l.waiting[i]
	return m, ok
}

// takeRest takes in by index what waits for children that were never sent, as it was paid for. Nothing is asked
// for after it, so a journal need not have the order.
func (l *litter) takeRest() {
	for i := 0; i < l.next; i++ {
		if m, ok := l.waiting[i]; ok {
			l.takeIn(m)
		}
	}
}

// takeIn gives a child to the search.
func (l *litter) takeIn(m made) {
	delete(l.waiting, m.child.Index)
	l.turnOf++
	if !m.made() {
		return // it was never sent
	}
	l.taken = append(l.taken, m)
	l.Breeder.takeIn(m.child)
	if l.take != nil {
		if bad := guard("taking a child in", func() { l.take(m.child) }); bad != nil {
			l.fail(bad)
		}
	}
	if l.Order == AsTheyEnd {
		l.teach(m)
	}
}

// record writes down that a child is taken in next, unless it is in the journal.
func (l *litter) record(m made) {
	if len(l.repeat) > 0 {
		l.repeat = l.repeat[1:]
		return
	}
	if err := l.recordTaken(m); err != nil {
		l.fail(err)
	}
}

// recordTaken writes down that the child is taken in next, before the search acts on it, if the order is not
// that of indices. The child's answer is on disk already, and stands before this record.
func (l *litter) recordTaken(m made) error {
	if l.Order == ByIndex || !l.turn.recording() || l.turn.journal == nil || l.turn.past.Ended {
		return nil
	}
	if l.err != nil || l.why != nil {
		return nil // the step is cut short, and made again: what ended by that says nothing of an order
	}
	return l.turn.journal.Take(l.turn.pull, m.child.Index)
}

// teachAll tells a model that learns of the step's children, by index and at the step's end. What it is asked
// in between depends on what it has learned, so if it were told of each child when it is taken in, the same
// replies would give another result with other latencies. A search that takes children as they end has given
// that up, and gains a model that learns while the step goes on.
func (l *litter) teachAll() {
	for _, m := range l.taken {
		l.teach(m)
	}
}

// teach tells a model that learns what became of its reply.
func (l *litter) teach(m made) {
	learner, ok := llm.As[llm.Learner](m.model(l.Breeder))
	if !ok || m.brief.Make != nil {
		return
	}
	c := m.child
	o := llm.Outcome{Attempts: c.Attempts, Valid: c.Scored() && c.Result.Valid, Score: c.Result.Score}
	if len(m.brief.Ask.Parents) > 0 {
		o.Parent = m.brief.Ask.Parents[0].Result.Score
	}
	if bad := guard("the model's Learn", func() { learner.Learn(o) }); bad != nil {
		l.fail(bad)
	}
}

// model is what the child is asked of.
func (m made) model(b *Breeder) llm.LLM {
	if m.brief.LLM != nil {
		return m.brief.LLM
	}
	return b.LLM
}

// generation returns the children that came to be, by index, and what kept others from it.
func (l *litter) generation() Generation {
	gen := Generation{Index: l.steps, Limit: l.limit, Partial: l.err != nil}
	byIndex := make([]*Child, l.next)
	for i := range l.taken {
		byIndex[l.taken[i].child.Index] = &l.taken[i].child
	}
	for _, c := range byIndex {
		if c != nil {
			gen.Children = append(gen.Children, *c)
		}
	}
	return gen
}

// make makes the child: a proposal, and its score. An error is more than the failure of one child.
func (l *litter) make(ctx context.Context, m *made) error {
	program, err := l.propose(ctx, m)
	if program == "" || err != nil {
		return err
	}
	c := &m.child
	c.Program = program
	if m.brief.Admit != nil {
		why, err := m.brief.Admit(ctx, program)
		if err != nil {
			c.Err = err.Error()
			return err
		}
		if why != "" {
			c.Err = why
			return nil
		}
	}
	sample := 0
	if l.Noisy {
		// A number of the child's own and not the next free one: which of two equal programs is evaluated first
		// is chance, and a resumed run has to find each one's score.
		sample = 1 + int(c.Seed)
	}
	if c.Result, err = l.turn.Evaluate(ctx, l.Task, program, sample); err == nil {
		return nil
	}
	c.Err = err.Error()
	if _, refused := Refused(err); refused || ctx.Err() != nil {
		c.Err = "its evaluation was given up: the run came to an end" // in replay too, for whatever reason there
		if limit, _ := Refused(err); limit != "" {
			c.Err = err.Error()
		}
	}
	return fmt.Errorf("evolve: evaluating child %d of step %d: %w", c.Index, l.steps, err)
}

// propose returns the child's program, "" if there is none.
func (l *litter) propose(ctx context.Context, m *made) (program string, err error) {
	c := &m.child
	if m.brief.Make != nil {
		if program, err = m.brief.Make(ctx); err != nil {
			c.Err = err.Error()
			return "", lasting(ctx, err)
		}
		return program, nil
	}
	messages := m.brief.Messages
	if messages == nil {
		messages = l.Task.Prompt(m.brief.Ask)
	}
	var reply llm.Reply
	reply, m.recalled, err = l.turn.ask(ctx, purpose{kind: KindChild, bred: true}, m.model(l.Breeder), llm.Request{Messages: messages, Seed: c.Seed})
	c.Attempts = reply.Attempts
	if err != nil {
		c.Err = err.Error()
		return "", lasting(ctx, err)
	}
	if program, err = l.parse(m.brief, reply.Text); err != nil {
		c.Err = err.Error()
		return "", nil
	}
	return program, nil
}

// parse reads the program out of a reply.
func (l *litter) parse(b Brief, text string) (string, error) {
	var parent eval.Candidate
	if len(b.Ask.Parents) > 0 {
		parent = b.Ask.Parents[0]
	}
	var program string
	var err error
	if b.Parse != nil {
		program, err = b.Parse(text)
	} else {
		program, err = task.ParseFrom(l.Task, parent.Program, text)
	}
	if err == nil && program == "" {
		err = errors.New("the reply holds no program")
	}
	return program, err
}

// lasting returns err if it is more than the failure of one call, which costs one child and is in its Err.
func lasting(ctx context.Context, err error) error {
	if _, refused := Refused(err); refused || ctx.Err() != nil || fatal(err) {
		return err
	}
	return nil
}
