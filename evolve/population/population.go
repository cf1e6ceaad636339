// Package population has searches that keep more than one program. A [Population] is an arm like [evolve.Greedy], made
// of parts: an [Archive], a [Selector], [Operator]s, [Gate]s and [Memory]. What its [Config] leaves out is greedy
// search's. Give each Population parts of its own, unless a part says that it may be shared.
package population

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	account "github.com/evoalloc/evoalloc/evolve/history"
	fault "github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/task"
)

// A Member is a program that was scored, and where it comes from.
type Member struct {
	rank rank // first, as archives of many members are looked through for each child

	eval.Candidate
	ID       int    // as in [evolve.Child]: its order of birth, 0 for the initial program
	Parents  []int  // IDs, the one it was made from first
	Operator string // what made it; "" for a plain rewrite
	Asked    int    // children that it was chosen to be the parent of, whether they have ended or not
	Improved int    // of those that have ended, the ones that are strictly better than it

	migrant bool // a copy of a member of another island
	own     *own // nil for a member that an archive made itself
}

// A Population is a search that keeps an [Archive] of programs. Each child has a parent that a [Selector] takes out of
// it, and is made by an [Operator]. A valid child is offered to the archive.
//
// All that is random in a child comes from a stream of its own, addressed by the search's seed and the child's order
// of birth, and is drawn when the child is briefed. With evolve.ByIndex the result therefore depends on the replies,
// and not on which of them comes first. Nothing is asked again in secret: a failed call, a reply without a program,
// and a program that a gate refuses are children that spent their call.
type Population struct {
	evolve.Breeder
	cfg     Config
	islands *chooser // nil unless the archive is Islands
	seeded  bool     // the archive was given the initial program
	born    int      // children briefed
	step    step
	invalid []*Member // the newest maxInvalid, oldest first
	elders  *elders
	taken   int           // scored programs that gates were told of
	leader  *Member       // the best member so far; nil before there is one
	reign   reign         // the settings in force
	lifts   account.Lifts // of all children; kept for the reward of settings
	credit  struct {      // of the child that was taken in last
		reward float64
		ok     bool
	}
}

// A step is what a Population knows of one step. It is made anew in each.
type step struct {
	prior   *Member           // the leader when it began
	pending map[int]*expected // children under way, by ID
}

func newStep(leader *Member) step { return step{prior: leader, pending: make(map[int]*expected)} }

// expected is a child that was briefed and is not taken in yet.
type expected struct {
	view     *View
	shown    *Member // the copy of the selected parent that the view has
	parent   *Member // the archive's member that the child is made of
	proposer int     // its index among the Breeder's
	island   pull
	sections []task.Section    // that the prompt shows
	labels   map[string]string // of the brief, to which the child's place is added
}

var (
	_ evolve.Sizer   = (*Population)(nil)
	_ evolve.Starter = (*Population)(nil)
)

// New returns a search that has not begun. It fails if a field of cfg is wrong.
func New(cfg Config) (*Population, error) {
	var err error
	if cfg.Noise, err = cfg.Noise.WithDefaults(); err != nil {
		return nil, err
	}
	// also where a Breadth alone decides how many children a step has
	failures := max(2*cmp.Or(cfg.N, evolve.DefaultN), 32)
	own := cfg.Credit != nil
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	one, _ := cfg.Archive.(*top)
	p := &Population{cfg: cfg, step: newStep(nil), elders: newElders(), Breeder: evolve.Breeder{
		Task: cfg.Task, LLM: cfg.LLM, From: cfg.Start, Window: cfg.Window, Order: cfg.Order, Noise: cfg.Noise,
		Strict: one != nil && one.n == 1, MaxFailures: failures, OnChild: cfg.OnChild, Proposers: cfg.proposers(),
		Policy: cfg.Policy, Seed: cfg.Seed}}
	if own {
		p.Breeder.Credit = func(evolve.Child) (float64, bool) { return p.credit.reward, p.credit.ok }
	}
	if len(cfg.Settings) > 0 {
		p.Policy = tilted{cfg.Policy, &p.reign.now}
		p.reign = reign{chooser: newChooser("settings", cfg.SettingsPolicy, len(cfg.Settings), cfg.Seed), steps: -1}
	}
	if islands, ok := cfg.Archive.(*Islands); ok {
		p.islands = newChooser("island", cfg.Islands, len(islands.Of), cfg.Seed)
	}
	return p, nil
}

// Done reports whether the search has made MaxGenerations, or an error ended it.
func (p *Population) Done() bool {
	return p.Breeder.Done() || p.cfg.MaxGenerations > 0 && p.Steps() >= p.cfg.MaxGenerations
}

// Calls returns how many children the next step makes: N, or what Breadth or the Settings decide. If these fail it
// returns 1, and the next Step returns the error.
func (p *Population) Calls() int {
	n, err := p.next()
	if err != nil {
		return 1
	}
	return n
}

// next returns how many children the next step makes.
func (p *Population) next() (int, error) {
	if err := p.govern(); err != nil {
		return 0, err
	}
	if p.cfg.Breadth == nil {
		return cmp.Or(p.reign.now.N, p.cfg.N), nil
	}
	n, err := p.Width(p.cfg.Breadth)
	return min(n, p.cfg.N), err
}

// Breadth returns what decides how many children each generation has, nil for N. A journal recognizes a run by how it
// prints itself.
func (p *Population) Breadth() evolve.Breadth { return p.cfg.Breadth }

// Seed returns the search's seed.
func (p *Population) Seed() uint32 { return p.cfg.Seed }

// Step makes one generation of N children, or as many as Breadth or the Settings decide, or of fewer if turn grants
// fewer calls.
//
// It returns an error for which a search of package evolve would, and if a part panics or returns what cannot be used:
// an archive that has no member, a selector that returns none, an operator policy whose chances do not sum to 1. The
// error names the part. Later Steps return the same error.
func (p *Population) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	n, err := p.next()
	if err != nil {
		p.Fail(err)
	}
	p.step = newStep(p.leader)
	gen, err := p.Breed(ctx, turn, max(n, 1), func(i int) evolve.Brief { return p.brief(ctx, turn, i) },
		func(c evolve.Child) { p.take(ctx, turn, c) })
	p.forget()
	if len(p.cfg.Settings) > 0 {
		p.conclude(gen)
	}
	return gen, err
}

// order returns the members of the archive, best first. Its callers guard the archive.
func (p *Population) order() []*Member {
	if restore(p.cfg.Archive.Members()) {
		rerank(p.cfg.Archive)
	}
	return byRank(p.cfg.Archive.Members())
}

// ask calls f, which asks the archive for something. What that panics with is an error that names it.
func (p *Population) ask(f func()) error { return fault.Guard(named("Archive", p.cfg.Archive), f) }

// brief says how the next child is made. What goes wrong ends the search, with an error that names the part.
func (p *Population) brief(ctx context.Context, turn *evolve.Turn, i int) evolve.Brief {
	p.born++
	// Before the view, which knows what was taken in, and before each child, as a steady-state search is one step.
	if err := firstOf(p.seedArchive, func() error { return p.rescore(ctx, turn) }); err != nil {
		p.Fail(err)
		return evolve.Brief{}
	}
	x := &expected{view: p.view(turn, i), labels: make(map[string]string)}
	b, err := p.plan(x)
	if err != nil {
		p.Fail(err)
		return evolve.Brief{}
	}
	p.step.pending[p.born] = x
	return b
}

// plan draws the island, the parent and the operator, in this order, and asks the operator.
func (p *Population) plan(x *expected) (b evolve.Brief, err error) {
	v := x.view
	if err := p.drawIsland(x); err != nil {
		return b, err
	}
	if err := p.selectParent(x); err != nil {
		return b, err
	}
	if err := p.recollect(v); err != nil {
		return b, err
	}
	open, err := p.able(v)
	if err != nil {
		return b, err
	}
	if x.proposer, err = p.Draw(open); err != nil {
		return b, err
	}
	o := p.operator(x)
	if err := fault.Guard(named("Operator", o), func() { b = o.Brief(v) }); err != nil {
		return b, err
	}
	x.parent = x.chosen()
	x.parent.Asked++
	p.elders.add(x.parent)
	b.Instruction = cmp.Or(b.Instruction, p.Proposers[x.proposer].Instruction) // before hints are added
	if b.Make == nil {
		if err := p.hint(&b, v); err != nil {
			return b, err
		}
	}
	b = p.complete(b, v, o)
	if err := p.show(x, &b); err != nil {
		return b, err
	}
	p.heat(&b, x)
	maps.Copy(x.labels, b.Labels)
	if _, placed := v.Part.(placer); placed || len(x.labels) > 0 { // a result keeps them
		b.Labels = x.labels
	}
	return b, nil
}

// complete fills in what an operator leaves out.
func (p *Population) complete(b evolve.Brief, v *View, o Operator) evolve.Brief {
	if b.Seed == 0 {
		b.Seed = v.seed
	}
	if len(b.Ask.Parents) == 0 {
		b.Ask.Parents = []eval.Candidate{v.Parent.Candidate}
	}
	if len(b.Parents) == 0 {
		b.Parents = []int{v.Parent.ID}
	}
	if b.Operator == "" && !p.cfg.plain { // greedy search's children have no operator's name
		b.Operator = o.Name()
	}
	if len(p.cfg.Gates) > 0 {
		b.Admit = admission(p.cfg.Gates, v, b.Admit)
	}
	return b
}

// seedArchive gives the initial program to the archive, once. It has a score only after Start.
func (p *Population) seedArchive() error {
	if p.seeded {
		return nil
	}
	p.seeded = true
	m := member(p.Initial().Candidate, 0)
	p.elders.add(m)
	p.leader = m
	return firstOf(
		func() error {
			return p.followedByGates(Birth{Child: p.Initial(), Task: p.cfg.Task})
		},
		func() error { return p.ask(func() { p.cfg.Archive.Add(m) }) },
	)
}

// take takes a child in: it is offered to the archive if it is valid, the gates and memories are told of it, and the
// policies learn what the choices were worth.
func (p *Population) take(ctx context.Context, turn *evolve.Turn, c evolve.Child) {
	x, ok := p.step.pending[c.ID]
	if !ok {
		return // its brief failed
	}
	delete(p.step.pending, c.ID)
	if err := p.takeIn(ctx, turn, x, c); err != nil {
		p.Fail(err)
	}
}

func (p *Population) takeIn(ctx context.Context, turn *evolve.Turn, x *expected, c evolve.Child) error {
	m := member(c.Candidate, c.ID)
	m.Parents, m.Operator = c.Parents, c.Operator
	b := Birth{Child: c, Task: p.cfg.Task, Parent: x.parent.shown(), Shown: x.sections}
	b.Result = m.Result.Clone()
	if err := p.followed(x, b); err != nil {
		return err
	}
	if err := p.reward(x, b); err != nil {
		return err
	}
	if b.Improved() {
		x.parent.Improved++
		b.Parent.Improved++
	}
	if c.Scored() {
		if b.Result.Valid && b.Parent.Result.Valid {
			p.lifts.Add(b.Result.Score - b.Parent.Result.Score)
		}
		if err := p.keep(m, x); err != nil {
			return err
		}
		if !p.cfg.rescores() && c.Better(p.leader.known().Candidate) {
			p.leader = m
		}
	}
	return p.learn(ctx, turn, b)
}

// reward tells the policies what their choices were worth. The archive is still as it was before the child.
func (p *Population) reward(x *expected, b Birth) error {
	var r float64
	var ok bool
	if err := fault.Guard("Credit", func() { r, ok = p.cfg.Credit(b) }); err != nil {
		return err
	}
	if p.credit.reward, p.credit.ok = r, ok; !ok {
		p.islands.cancel(x.island)
		return nil
	}
	return p.islands.report(x.island, r)
}

// keep offers a member to the archive, or to the part of it that its parent is from, and notes where it stands there.
func (p *Population) keep(m *Member, x *expected) error {
	if !m.Result.Valid {
		if p.invalid = append(p.invalid, m); len(p.invalid) > maxInvalid {
			p.invalid = slices.Delete(p.invalid, 0, 1)
		}
		return nil
	}
	return p.ask(func() {
		if islands, ok := p.cfg.Archive.(*Islands); ok {
			islands.addTo(x.island.arm, m)
		} else {
			p.cfg.Archive.Add(m)
		}
		if p.cfg.rescores() {
			p.lead()
		}
		if a, ok := x.view.Part.(placer); ok {
			if cell := a.Place(m); cell != "" {
				x.labels["cell"] = cell
			}
		}
	})
}

// maxInvalid is how many invalid members a View shows.
const maxInvalid = 32

// forget cancels what was drawn for children that were never sent.
func (p *Population) forget() {
	for id := p.born; len(p.step.pending) > 0 && id > 0; id-- {
		if x, ok := p.step.pending[id]; ok {
			p.islands.cancel(x.island)
			delete(p.step.pending, id)
		}
	}
}

// drawIsland draws the part of the archive that breeds, if it has parts.
func (p *Population) drawIsland(x *expected) (err error) {
	islands, ok := p.cfg.Archive.(*Islands)
	if !ok {
		return nil
	}
	if x.island, err = p.islands.draw(allOf(len(islands.Of)), uint64(p.born)); err == nil {
		x.view.Part = islands.Of[x.island.arm]
		x.labels["island"] = strconv.Itoa(x.island.arm)
	}
	return err
}

// selectParent chooses the parent among the members of the island that are valid, or among all of them if none is.
func (p *Population) selectParent(x *expected) error {
	v := x.view
	var from []*Member
	if err := fault.Guard(named("Archive", v.Part), func() { from = field(v.Part.Members()) }); err != nil {
		return err
	}
	if len(from) == 0 {
		return fmt.Errorf("population: Archive %s has no member to select a parent from: its Add has to keep at least the "+
			"initial program", nameOf(v.Part))
	}
	var by Selector
	selector := p.reign.now.selector(p.cfg.Select)
	if err := fault.Guard(named("Selector", selector), func() {
		v.Parent, by = selectBy(selector, from, v.Rand)
	}); err != nil {
		return err
	}
	if _, chose := selector.(choosing); chose || p.reign.now.Select != nil {
		x.labels["selector"] = nameOf(by)
	}
	if len(p.cfg.Settings) > 0 {
		x.labels["settings"] = cmp.Or(p.reign.now.Name, p.reign.now.String())
	}
	if v.Parent == nil {
		return fmt.Errorf("population: Selector %s returns nil for a choice of %d members: need one of them",
			nameOf(selector), len(from))
	}
	v.parent, x.shown = v.Parent, v.Parent.shown()
	v.Parent = x.shown
	return nil
}

// recollect collects the sections of the memories for a child's prompt.
func (p *Population) recollect(v *View) error {
	for _, m := range p.cfg.Memory {
		if err := fault.Guard(named("Memory", m), func() { v.Sections = append(v.Sections, m.Section(v)) }); err != nil {
			return err
		}
	}
	return nil
}

// operator returns the one that makes the child.
func (p *Population) operator(x *expected) Operator {
	return p.cfg.Operators[x.proposer/max(1, len(p.cfg.Proposers))]
}

// able returns which proposers can make a child now: those whose operator can.
func (p *Population) able(v *View) (open []bool, err error) {
	for _, o := range p.cfg.Operators {
		can := true
		if a, ok := o.(abler); ok {
			if err := fault.Guard(named("Operator", o), func() { can = a.Able(v) }); err != nil {
				return nil, err
			}
		}
		open = append(open, slices.Repeat([]bool{can}, max(1, len(p.cfg.Proposers)))...)
	}
	return open, nil
}

// learn tells the memories of a child that was taken in. That the budget has no room for what they ask is noted by the
// turn, and costs the memory alone.
func (p *Population) learn(ctx context.Context, turn *evolve.Turn, b Birth) error {
	for _, m := range p.cfg.Memory {
		best := p.Best()
		best.Result = best.Result.Clone()
		s := &Season{Task: p.cfg.Task, Births: []Birth{b}, Best: best, aside: aside{turn, p.cfg.LLM, p.stream, b.ID}}
		var err error
		if bad := fault.Guard(named("Memory", m), func() { err = m.Learn(ctx, s) }); bad != nil {
			return bad
		}
		if _, refused := evolve.Refused(err); err != nil && !refused {
			return fmt.Errorf("population: Memory %s: %w", nameOf(m), err)
		}
	}
	return nil
}

// view returns the view of the next child, without a parent yet.
func (p *Population) view(turn *evolve.Turn, i int) *View {
	n := p.cfg.N
	if p.cfg.Breadth != nil {
		n = 0 // as in Greedy: a child's address is then the same however many siblings it has
	}
	return &View{
		Task: p.cfg.Task, All: p.cfg.Archive, Part: p.cfg.Archive, Invalid: slices.Clip(p.invalid),
		Step: p.Steps(), Index: i, Birth: p.born, Taken: p.taken,
		seed: evolve.ChildSeed(p.cfg.Seed, n, p.Steps()-1, i),
		Rand: p.stream("child", p.born), elders: p.elders, aside: aside{turn, p.cfg.LLM, p.stream, p.born},
	}
}

// stream returns the search's random stream of a name and an index.
func (p *Population) stream(name string, index int) *rand.Rand {
	return stream.New(uint64(p.cfg.Seed), "population "+name, uint64(index))
}

// String returns what decides the search, but for the task's and the model's settings.
func (p *Population) String() string {
	return fmt.Sprintf("Population(%s, N=%d, seed=%d, %s)", p.cfg.Task.Name(), p.cfg.N, p.cfg.Seed, p.cfg.parts())
}
