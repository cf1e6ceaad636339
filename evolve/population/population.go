// Package population has searches that keep more than one program. A [Population] is an arm like [evolve.Greedy], made
// of parts: an [Archive], a [Selector], [Operator]s, [Gate]s and [Memory]. What its [Config] leaves out is greedy
// search's. Give each Population parts of its own, unless a part says that it may be shared. Other systems' searches,
// made of these parts, are in package presets.
package population

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/task"
)

// Step makes one generation of N children, or as many as Breadth decides, or of fewer if turn grants fewer calls.
//
// It returns an error for which a search of package evolve would, and if a part panics or returns what cannot be used:
// an archive that has no member, a selector that returns no index, an operator policy whose chances do not sum to 1. The
// error names the part. Later Steps return the same error.
func (p *Population) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	n, err := p.next()
	if err != nil {
		p.Fail(err)
	}
	p.step = stepState{prior: p.leader, pending: make(map[int]*expected)}
	gen, err := p.Breed(ctx, turn, max(n, 1), func(i int) evolve.Brief { return p.brief(ctx, turn, i) },
		func(c evolve.Child) { p.take(ctx, turn, c) })
	p.forget()
	return gen, err
}

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

// seedArchive gives the initial program to the archive, once. It has a score only after Start.
func (p *Population) seedArchive() error {
	if p.seeded {
		return nil
	}
	p.seeded = true
	m := NewMember(p.Initial(), 0)
	p.elders.add(m)
	p.leader = &m
	return firstOf(
		func() error { return p.followedByGates(Birth{Child: p.Initial(), Task: p.cfg.Task}) },
		func() error { return p.guarded(func() { p.cfg.Archive.Add(m) }) },
	)
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

// plan draws the island, the parent and the operator, in this order, and asks the operator.
func (p *Population) plan(x *expected) (b evolve.Brief, err error) {
	v := x.view
	var o Operator
	if err := firstOf(
		func() error { return p.drawIsland(x) },
		func() error { return p.selectParent(v) },
		func() error { return p.recollect(v) },
		func() (err error) { o, err = p.drawOperator(x); return err },
		func() error { return step.Guard(named("Operator", o), func() { b = o.Brief(v) }) },
	); err != nil {
		return b, err
	}
	x.parent = v.Parent
	x.parent.count()
	p.elders.add(x.parent)
	b.Instruction = cmp.Or(b.Instruction, p.Proposers[x.proposer].Instruction) // before hints are added
	if b.Make != nil {
		p.complete(&b, v, o)
	} else if err := firstOf(
		func() error { return p.hint(&b, v) },
		func() error { p.complete(&b, v, o); return p.show(x, &b) },
		func() error { return p.model(&b, x) },
	); err != nil {
		return b, err
	}
	maps.Copy(x.labels, b.Labels)
	if _, placed := v.Part.(Placer); placed || len(x.labels) > 0 { // a result keeps them
		b.Labels = x.labels
	}
	return b, nil
}

// drawIsland draws the part of the archive that breeds, if it has parts.
func (p *Population) drawIsland(x *expected) (err error) {
	if _, ok := p.cfg.Archive.(*Islands); !ok {
		return nil
	}
	if x.island, err = p.islands.draw(uint64(p.born)); err == nil {
		x.view.Part = partsOf(p.cfg.Archive)[x.island.Arm]
		x.labels["island"] = strconv.Itoa(x.island.Arm)
	}
	return err
}

// selectParent chooses the parent among the members of the island that are valid, or among all of them if none is.
func (p *Population) selectParent(v *View) error {
	var from []Member
	if err := step.Guard(named("Archive", v.Part), func() { from = field(v.Part.Members()) }); err != nil {
		return err
	}
	if len(from) == 0 {
		return fmt.Errorf("population: Archive %s has no member to select a parent from: its Add has to keep at least the "+
			"initial program", nameOf(v.Part))
	}
	at := -1
	if err := step.Guard(named("Selector", p.cfg.Select), func() { at = p.cfg.Select.Select(from, v.Rand) }); err != nil {
		return err
	}
	if at < 0 || at >= len(from) {
		return fmt.Errorf("population: Selector %s returns %d for a choice of %d members: need an index",
			nameOf(p.cfg.Select), at, len(from))
	}
	v.Parent = from[at]
	return nil
}

// recollect collects the sections of the memories for a child's prompt.
func (p *Population) recollect(v *View) error {
	for _, m := range p.cfg.Memory {
		if err := step.Guard(named("Memory", m), func() { v.Sections = append(v.Sections, m.Section(v)) }); err != nil {
			return err
		}
	}
	return nil
}

// drawOperator draws the proposer among those whose operator can make a child now.
func (p *Population) drawOperator(x *expected) (o Operator, err error) {
	var open []bool
	for _, o := range p.cfg.Operators {
		can := false
		if err := step.Guard(named("Operator", o), func() { can = Able(o, x.view) }); err != nil {
			return nil, err
		}
		open = append(open, slices.Repeat([]bool{can}, max(1, len(p.cfg.Proposers)))...)
	}
	if x.proposer, err = p.Draw(open); err != nil {
		return nil, err
	}
	return p.operator(x), nil
}

// operator returns the one that makes the child.
func (p *Population) operator(x *expected) Operator {
	return p.cfg.Operators[x.proposer/max(1, len(p.cfg.Proposers))]
}

// hint adds what the operators have to tell to the instruction of a child that a model is asked for.
func (p *Population) hint(b *evolve.Brief, v *View) error {
	for _, o := range p.cfg.Operators {
		var text string
		if err := step.Guard(named("Operator", o), func() { text = Hint(o, v) }); err != nil {
			return err
		}
		if text != "" {
			b.Instruction = strings.TrimSpace(cmp.Or(b.Instruction, task.DefaultInstruction)) + "\n" + text
		}
	}
	return nil
}

// complete fills in what an operator leaves out.
func (p *Population) complete(b *evolve.Brief, v *View, o Operator) {
	if b.Seed == 0 {
		b.Seed = v.seed
	}
	if len(b.Request.Parents) == 0 {
		b.Request.Parents = []eval.Candidate{v.Parent.Candidate}
	}
	if len(b.From) == 0 {
		b.From = []int{v.Parent.ID}
	}
	if b.Operator == "" && !p.cfg.plain { // greedy search's children have no operator's name
		b.Operator = o.Name()
	}
	if len(p.cfg.Gates) > 0 {
		b.Admit = admission(p.cfg.Gates, v, b.Admit)
	}
}

// admission returns the Admit of a brief: the operator's own, and then the gates.
func admission(
	gates []Gate, v *View, own func(context.Context, string) (string, error),
) func(context.Context, string) (string, error) {
	return func(ctx context.Context, program string) (why string, err error) {
		if own != nil {
			if why, err = own(ctx, program); why != "" || err != nil {
				return why, err
			}
		}
		for _, g := range gates {
			if bad := step.Guard(named("Gate", g), func() { why, err = g.Admit(ctx, v, program) }); bad != nil {
				return "", bad
			}
			if err != nil {
				return "", fmt.Errorf("population: Gate %s: %w", nameOf(g), err)
			}
			if why != "" {
				return "refused by " + nameOf(g) + ": " + why, nil
			}
		}
		return "", nil
	}
}

// show notes what the prompt of b shows: that of the request which its Prepare returns, if it has one.
func (p *Population) show(x *expected, b *evolve.Brief) error {
	prepare := b.Prepare
	if prepare == nil {
		return step.Guard("Task", func() { x.sections = task.Asked(p.cfg.Task, b.Request).Shown() })
	}
	b.Prepare = func(ctx context.Context, ask task.Request) (task.Request, string, error) {
		now, why, err := prepare(ctx, ask)
		if why == "" && err == nil { // the child is taken in only after this
			x.sections = task.Asked(p.cfg.Task, now).Shown()
		}
		return now, why, err
	}
	return nil
}

// model finds the model that is asked for the child, and draws its temperature.
func (p *Population) model(b *evolve.Brief, x *expected) error {
	model := cmp.Or(b.LLM, p.Proposers[x.proposer].LLM, p.cfg.LLM)
	if n := len(p.cfg.Temperatures); n > 0 && model != nil {
		b.LLM = heated{model, p.cfg.Temperatures[x.view.Rand.IntN(n)]}
	}
	if model == nil {
		return fmt.Errorf("population: Operator %s asks a model, and Config.LLM is nil", nameOf(p.operator(x)))
	}
	return nil
}

// take takes a child in: it is offered to the archive if it is valid, the gates and memories are told of it, and the
// policies learn what the choices were worth.
func (p *Population) take(ctx context.Context, turn *evolve.Turn, c evolve.Child) {
	x, ok := p.step.pending[c.ID]
	if !ok {
		return // its brief failed
	}
	delete(p.step.pending, c.ID)
	m := NewMember(c, 0)
	b := Birth{Child: c, Task: p.cfg.Task, Parent: x.parent, Shown: x.sections}
	b.Result = m.Result
	b.Parent.Candidate = p.elders.latest(x.parent).Candidate // it may have been scored again
	if err := firstOf(
		func() error { return p.followed(x, b) },
		func() error { return p.reward(x, b) },
		func() error { return p.keep(m, x, c) },
		func() error { return p.learn(ctx, turn, b) },
	); err != nil {
		p.Fail(err)
	}
}

// followed tells the operator that made the child x, the selector, the archive and the gates what became of x.
func (p *Population) followed(x *expected, b Birth) error {
	return firstOf(
		func() error { return follow("Operator", p.operator(x), b) },
		func() error { return follow("Selector", p.cfg.Select, b) },
		func() error { return follow("Archive", p.cfg.Archive, b) },
		func() error { return p.followedByGates(b) },
	)
}

// followedByGates tells the gates of a child, or of the initial program.
func (p *Population) followedByGates(b Birth) error {
	if b.Scored() {
		p.taken++
	}
	for _, g := range p.cfg.Gates {
		if err := follow("Gate", g, b); err != nil {
			return err
		}
	}
	return nil
}

// reward tells the policies what their choices were worth. The archive is still as it was before the child.
func (p *Population) reward(x *expected, b Birth) error {
	var r float64
	var ok bool
	if err := step.Guard("Credit", func() { r, ok = p.cfg.Credit(b) }); err != nil {
		return err
	}
	if p.credit.reward, p.credit.ok = r, ok; !ok {
		p.islands.cancel(x.island)
		return nil
	}
	return p.islands.report(x.island, r)
}

// keep offers a member to the archive, or to the part of it that its parent is from, and notes where it stands there.
func (p *Population) keep(m Member, x *expected, c evolve.Child) error {
	if !c.Scored() {
		return nil
	}
	if !m.Result.Valid {
		if p.invalid = append(p.invalid, m); len(p.invalid) > maxInvalid {
			p.invalid = slices.Delete(p.invalid, 0, 1)
		}
		return nil
	}
	if err := p.guarded(func() {
		partsOf(p.cfg.Archive)[x.island.Arm].Add(m)
		if p.cfg.rescores() {
			p.lead()
		}
		if a, ok := x.view.Part.(Placer); ok {
			if cell := a.Place(m); cell != "" {
				x.labels["cell"] = cell
			}
		}
	}); err != nil {
		return err
	}
	if !p.cfg.rescores() && outranks(&m, p.leader) {
		p.leader = &m
	}
	return nil
}

// maxInvalid is how many invalid members a View shows.
const maxInvalid = 32

// learn tells the memories of a child that was taken in. That the budget has no room for what they ask is noted by the
// turn, and costs the memory alone.
func (p *Population) learn(ctx context.Context, turn *evolve.Turn, b Birth) error {
	for _, m := range p.cfg.Memory {
		best := p.Best()
		best.Result = best.Result.Clone()
		s := &Season{Task: p.cfg.Task, Births: []Birth{b}, Best: best, aside: aside{turn, p.cfg.LLM, p.stream, b.ID}}
		var err error
		if bad := step.Guard(named("Memory", m), func() { err = m.Learn(ctx, s) }); bad != nil {
			return bad
		}
		if _, refused := evolve.Refused(err); err != nil && !refused {
			return fmt.Errorf("population: Memory %s: %w", nameOf(m), err)
		}
	}
	return nil
}

// forget cancels what was drawn for children that were never sent.
func (p *Population) forget() {
	for id := p.born; len(p.step.pending) > 0 && id > 0; id-- {
		if x, ok := p.step.pending[id]; ok {
			p.islands.cancel(x.island)
			delete(p.step.pending, id)
		}
	}
}
