package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// DefaultN is the number of children in a generation where none is given, the BaSE paper's.
const DefaultN = 64

// MaxN is the most children in a generation, and the most arms that [GreedyArms] makes: each child waits in
// a goroutine of its own, so that more is a slip that would fill the memory.
const MaxN = 100_000

// GreedyConfig says what a [Greedy] search works on and with.
type GreedyConfig struct {
	Task task.Task // what to improve; required
	// LLM proposes children; required. A generation asks for N at once, so limit what is in
	// flight with [llm.Limit]; one limit can serve many searches.
	LLM  llm.LLM
	N    int    // children in a generation, at most MaxN; 0 means DefaultN
	Seed uint32 // addresses the children's seeds, see [ChildSeed]; 0 is a seed like another
	// MaxGenerations is when the search is done; 0 means never.
	MaxGenerations int
	// Start is the initial program, evaluated (see [Evaluate]), so that searches that begin
	// alike share it; nil means the first Step evaluates it.
	Start *eval.Candidate
	// MaxFailures is how many calls in a row may end in an error (not a timeout) before the
	// search stops with it, because an endpoint that fails every call spends the budget on
	// nothing; 0 means 2·N, at least 32. Calls that a [Journal] recalls do not count: a run goes on
	// once the endpoint is back.
	MaxFailures int
	// Noisy says that the evaluator may score the same program differently, so that every child is
	// evaluated. Otherwise equal programs (but for white space at their end) are evaluated once.
	Noisy bool
	// OnChild, if not nil, hears of each child as soon as it is finished. It is called from
	// several goroutines at once.
	OnChild func(Child)
}

func (c GreedyConfig) withDefaults() GreedyConfig {
	c.N = cmp.Or(c.N, DefaultN)
	c.MaxFailures = cmp.Or(c.MaxFailures, max(2*c.N, 32))
	return c
}

func (c GreedyConfig) validate() error {
	switch {
	case c.Task == nil:
		return errors.New("evolve: GreedyConfig.Task is nil")
	case c.LLM == nil:
		return errors.New("evolve: GreedyConfig.LLM is nil")
	case c.N < 1 || c.N > MaxN:
		return fmt.Errorf("evolve: GreedyConfig.N is %d: a generation needs at least 1 child, and at most %d", c.N, MaxN)
	case c.MaxGenerations < 0:
		return fmt.Errorf("evolve: GreedyConfig.MaxGenerations is %d: need 0 for no limit, or more", c.MaxGenerations)
	case c.MaxFailures < 0:
		return fmt.Errorf("evolve: GreedyConfig.MaxFailures is %d: need 0 for the default, or more", c.MaxFailures)
	}
	return nil
}

// Evaluate scores t's initial program.
func Evaluate(ctx context.Context, t task.Task) (eval.Candidate, error) {
	r, err := t.Evaluate(ctx, t.Initial())
	if err != nil {
		return eval.Candidate{}, fmt.Errorf("evolve: evaluating the initial program of %s: %w", t.Name(), err)
	}
	return eval.Candidate{Program: t.Initial(), Result: r.Clean()}, nil
}

// Greedy is the simplest search: a generation freezes the parent, the best program so far, asks the
// model for N independent rewrites of it in parallel, and scores each as soon as it is parsed. The
// best child replaces the parent if it is strictly better; ties keep the parent.
type Greedy struct {
	cfg      GreedyConfig
	best     eval.Candidate
	started  bool
	next     int   // index of the next generation, from 1
	failures int   // calls in a row that ended in an error
	err      error // what ended the search
}

var _ Sizer = (*Greedy)(nil)

// NewGreedy returns a search that has not begun. It fails if a field of cfg is wrong.
func NewGreedy(cfg GreedyConfig) (*Greedy, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if !cfg.Noisy {
		cfg.Task = memoized(cfg.Task)
	}
	g := &Greedy{cfg: cfg, next: 1, best: eval.Candidate{Program: cfg.Task.Initial()}}
	if cfg.Start != nil {
		g.best, g.started = *cfg.Start, true
	}
	return g, nil
}

// GreedyArms returns k searches that differ in their seeds, cfg.Seed + i for the i-th. The initial
// program is evaluated here, once for all of them, unless cfg.Start has it already. It fails unless k is in
// 1..MaxN, if a field of cfg is wrong, or if the evaluation fails.
func GreedyArms(ctx context.Context, cfg GreedyConfig, k int) ([]Arm, error) {
	if k < 1 || k > MaxN {
		return nil, fmt.Errorf("evolve: GreedyArms of %d arms: need at least 1, and at most %d", k, MaxN)
	}
	if _, err := NewGreedy(cfg); err != nil {
		return nil, err
	}
	if cfg.Start == nil {
		start, err := Evaluate(ctx, cfg.Task)
		if err != nil {
			return nil, err
		}
		cfg.Start = &start
	}
	if !cfg.Noisy {
		cfg.Task = memoized(cfg.Task) // one memory for all
	}
	arms := make([]Arm, k)
	base := cfg.Seed
	for i := range arms {
		cfg.Seed = base + uint32(i)
		g, err := NewGreedy(cfg)
		if err != nil {
			return nil, err
		}
		arms[i] = g
	}
	return arms, nil
}

// memo is a task that evaluates equal programs once, within the budget of the run.
type memo struct{ task.Task }

// Unwrap returns the task, whose optional methods hold.
func (m memo) Unwrap() task.Task { return m.Task }

func memoized(t task.Task) task.Task {
	if m, ok := t.(memo); ok {
		return m
	}
	if !metered(t) {
		t = task.WithEvaluator(t, meter{t})
	}
	return memo{task.WithEvaluator(t, eval.Memo(t))}
}

// Best returns the best candidate so far: the initial program, not yet evaluated, before the first
// Step of a search without a Start.
func (g *Greedy) Best() eval.Candidate { return g.best }

// Done reports whether MaxGenerations are made, or an error ended the search.
func (g *Greedy) Done() bool {
	return g.err != nil || g.cfg.MaxGenerations > 0 && g.next > g.cfg.MaxGenerations
}

// Calls returns N.
func (g *Greedy) Calls() int { return g.cfg.N }

// Seed returns the search's seed.
func (g *Greedy) Seed() uint32 { return g.cfg.Seed }

// Step makes one generation of N children. It returns an error if ctx ends, if evaluation itself
// fails, if the model is [llm.Unavailable], or after MaxFailures failed calls in a row; later Steps
// return it again.
func (g *Greedy) Step(ctx context.Context) (Generation, error) { return g.StepN(ctx, g.cfg.N) }

// StepN is Step with the first n of the N children. It panics if n is not in 1..N.
func (g *Greedy) StepN(ctx context.Context, n int) (Generation, error) {
	if n < 1 || n > g.cfg.N {
		panic(fmt.Sprintf("evolve: StepN of %d children: need 1 to %d", n, g.cfg.N))
	}
	if g.err != nil {
		return Generation{Index: g.next, Parent: g.best, Best: g.best, Partial: true}, g.err
	}
	begin := time.Now()
	if g.err = g.start(ctx); g.err != nil {
		return Generation{Index: g.next, Parent: g.best, Best: g.best, Partial: true}, g.err
	}
	gen := Generation{Index: g.next, Parent: g.best}
	gen.Children, gen.Limit, g.err = g.generate(ctx, n)
	for _, c := range gen.Children {
		if c.scored() && c.Better(g.best) {
			g.best = c.Candidate
		}
	}
	if err := guard("the model's Learn", func() { g.teach(gen) }); g.err == nil {
		g.err = err
	}
	gen.Best = g.best
	gen.Elapsed = time.Since(begin)
	gen.Partial = g.err != nil
	g.next++
	return gen, g.err
}

// teach tells a model that learns what became of its replies, by index, so that what it learns does not
// depend on which came first.
func (g *Greedy) teach(gen Generation) {
	learner, ok := llm.As[llm.Learner](g.cfg.LLM)
	if !ok {
		return
	}
	for _, c := range gen.Children {
		learner.Learn(llm.Outcome{Attempts: c.Attempts, Valid: c.scored() && c.Result.Valid, Score: c.Result.Score, Parent: gen.Parent.Result.Score})
	}
}

// start evaluates the initial program, unless it is already.
func (g *Greedy) start(ctx context.Context) error {
	if g.started {
		return nil
	}
	start, err := Evaluate(ctx, g.cfg.Task)
	if err == nil {
		g.best, g.started = start, true
	}
	return err
}

// A brood is the children of one generation while they come to be.
type brood struct {
	mu       sync.Mutex
	children []*Child
	limit    string // of the budget, that left no room for more
	refused  int    // the child of lowest index that it refused; limit is what refused that one
	ending   error  // why some were not sent, though nothing failed
}

// generate makes n children of the best program and returns those that were sent, by index, and the
// limit that kept others from it.
func (g *Greedy) generate(ctx context.Context, n int) ([]Child, string, error) {
	messages := g.cfg.Task.Prompt(task.Ask{Parents: []eval.Candidate{g.best}})
	b := brood{children: make([]*Child, n)}
	group, groupCtx := errgroup.WithContext(ctx)
	for i := range n {
		group.Go(func() error {
			recalled := false
			c := &Child{Index: i, Seed: ChildSeed(g.cfg.Seed, g.cfg.N, g.next-1, i)}
			err := g.child(withRecall(groupCtx, &recalled), c, messages)
			b.mu.Lock()
			defer b.mu.Unlock()
			return g.take(&b, c, recalled, err)
		})
	}
	err := group.Wait()
	if err == nil {
		err = b.ending
	}
	if err != nil && ctx.Err() != nil { // the children's errors only follow from it; without any they are whole
		err = fmt.Errorf("evolve: generation %d: %w", g.next, context.Cause(ctx))
	}
	return sent(b.children), b.limit, err
}

// take puts a child in its place and returns an error that is to end the generation at once.
func (g *Greedy) take(b *brood, c *Child, recalled bool, err error) error {
	if err == nil || len(c.Attempts) > 0 || c.HasProgram() {
		b.children[c.Index] = c
		g.note(c, recalled)
		if bad := g.tell(*c); bad != nil {
			return bad
		}
	}
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		if b.limit == "" || c.Index < b.refused { // whichever comes first, so that replay says the same
			b.limit, b.refused = refused.limit, c.Index
		}
		return nil
	case errors.Is(err, llm.ErrDraining):
		b.ending = err // its siblings that were sent go on
		return nil
	case err != nil:
		return err
	}
	return g.tooManyFailures(c)
}

// tell tells OnChild, and returns what it panics with.
func (g *Greedy) tell(c Child) error {
	if g.cfg.OnChild == nil {
		return nil
	}
	return guard("GreedyConfig.OnChild", func() { g.cfg.OnChild(c) })
}

// note counts failures in a row, of calls that were made in this life.
func (g *Greedy) note(c *Child, recalled bool) {
	switch last := len(c.Attempts) - 1; {
	case last < 0 || recalled:
	case c.Attempts[last].Status == llm.Failed:
		g.failures++
	case c.Attempts[last].Status == llm.OK:
		g.failures = 0
	}
}

func (g *Greedy) tooManyFailures(c *Child) error {
	if g.failures < g.cfg.MaxFailures {
		return nil
	}
	return fmt.Errorf("evolve: %d model calls in a row failed, the last with: %s", g.failures, c.Err)
}

// child makes c. An error ends the generation, a panic too; what it cost until then is in c.
func (g *Greedy) child(ctx context.Context, c *Child, messages []llm.Message) (err error) {
	if bad := guard(fmt.Sprintf("making child %d of generation %d", c.Index, g.next), func() { err = g.rewrite(ctx, c, messages) }); bad != nil {
		c.Err = bad.Error()
		return bad
	}
	return err
}

// rewrite asks for a rewrite of the best program and scores it.
func (g *Greedy) rewrite(ctx context.Context, c *Child, messages []llm.Message) error {
	reply, err := Ask(ctx, g.cfg.LLM, llm.Request{Messages: messages, Seed: c.Seed})
	c.Attempts = reply.Attempts
	if err != nil {
		c.Err = err.Error()
		return fatal(ctx, err)
	}
	program, err := task.ParseFrom(g.cfg.Task, g.best.Program, reply.Text)
	if err != nil {
		c.Err = err.Error()
		return nil
	}
	c.Program = program
	if g.cfg.Noisy {
		ctx = withAddress(ctx, fmt.Sprintf("%d/%d/%d/%d", g.cfg.Seed, g.cfg.N, g.next-1, c.Index))
	}
	c.Result, err = EvaluateChild(ctx, g.cfg.Task, program)
	if err != nil {
		c.Err = err.Error()
		if ctx.Err() != nil || errors.Is(err, llm.ErrDraining) {
			c.Err = "its evaluation was given up: the run came to an end" // in replay too, for whatever reason there
		}
		return fmt.Errorf("evolve: evaluating child %d of generation %d: %w", c.Index, g.next, err)
	}
	return nil
}

// fatal returns err if it is more than the failure of one call.
func fatal(ctx context.Context, err error) error {
	var refused *refusedError
	switch {
	case ctx.Err() != nil, llm.Unavailable(err), errors.As(err, &refused),
		errors.Is(err, llm.ErrDraining), errors.Is(err, ErrJournal), errors.Is(err, ErrDiverged):
		return err
	}
	return nil
}

// sent returns the children that came to be, in order.
func sent(children []*Child) []Child {
	out := make([]Child, 0, len(children))
	for _, c := range slices.DeleteFunc(children, func(c *Child) bool { return c == nil }) {
		out = append(out, *c)
	}
	return out
}

// String prints what decides the search.
func (g *Greedy) String() string {
	return fmt.Sprintf("Greedy(%s, N=%d, seed=%d)", g.cfg.Task.Name(), g.cfg.N, g.cfg.Seed)
}
