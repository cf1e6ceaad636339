package peers

import (
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// AdaEvolve has two islands of 20 programs, drawn by UCB over decayed gains, whose 5 best are copied to the next one
// every 15 children. A newcomer of a full island competes with the program that is most like it, but for the best
// fifth. A parent is drawn by how unlike it is to its five nearest (explore), uniformly among the best quarter
// (exploit), or by either, with the best fifth in place of the quarter (balanced), in shares that follow the island's
// own gains. The prompt has two programs of the better half that are most unlike the parent, the two best of all
// islands, and up to five earlier attempts on the parent with what became of them.
//
// On purpose otherwise:
//   - there are always two islands; there, up to five, begun when gains are small;
//   - when scores stand still the original has a model invent strategies, which this does not: see [population.Explore]
//     and [population.Scratchpad];
//   - a reply that is no program is not asked for again; there, twice;
//   - attempts on a parent are all that were answered; there, those that the archive kept;
//   - a program is shown once; there, it may be shown as unlike the parent and as one of the best;
//   - where children are under way, the island is drawn by what has ended; there, there is one at a time.
func AdaEvolve(s Setting) population.Config {
	a := newAdaptive(2, 20)
	islands := &population.Islands{}
	for _, l := range a.islands {
		islands.Of = append(islands.Of, l)
	}
	c := s.config()
	c.Archive, c.Islands = islands, bestNext{a}
	siblings := &population.Attempts{Most: 5, OfParent: true}
	c.Operators, c.Memory = []population.Operator{adapts{a, siblings}}, []population.Memory{siblings}
	return c
}

// The ways to draw a parent. They stand in results as operators.
const (
	explores = "explore"
	exploits = "exploit"
	balances = "balanced"
)

// adapts is a rewrite of a parent that an island draws.
type adapts struct {
	*adaptive
	siblings *population.Attempts
}

// Name returns "adapt".
func (adapts) Name() string { return "adapt" }

// Brief draws a way, a parent and what is shown with it.
func (o adapts) Brief(v *population.View) evolve.Brief {
	l := v.Part.(*niche)
	o.settle(l)
	mode := l.mode(v.Rand)
	parent := l.parent(mode, v.Rand)
	v.Parent = parent.Member
	r := population.Rewrite{Show: func(*population.View) []task.Section {
		return []task.Section{population.Inspirations(l.context(parent)...), o.siblings.Section(v)}
	}}
	if mode == explores {
		r.Instruction = "Write a program that solves the task by a different method than this one."
	}
	b := r.Brief(v)
	b.Operator = mode
	return b
}

// Follow counts the children. At every fifteenth programs migrate, before the next one is briefed.
func (o adapts) Follow(population.Birth) {
	o.children++
	o.due = o.due || o.children > 1 && (o.children-1)%migrateEvery == 0
}

// String names the operator.
func (adapts) String() string { return "explore, exploit, balanced by gains" }

// mode draws how the parent is drawn.
func (l *niche) mode(r *rand.Rand) string {
	i := l.intensity()
	switch draw := r.Float64(); {
	case draw < i:
		return explores
	case draw < i+0.7*(1-i):
		return exploits
	}
	return balances
}
