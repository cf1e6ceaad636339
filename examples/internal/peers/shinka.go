package peers

import (
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// Shinka has an archive of the 40 best programs on two islands without migration, drawn uniformly, parents weighted by
// score and few children (λ = 10), and three kinds of patch in fixed shares, 0.6 diff, 0.3 full and 0.1 cross. Shown
// are the best of all islands, if it is on the parent's, or else any there, and the best of the others there. A cross
// is with one of these. Programs that are too like another one are refused at a similarity of 0.99. Each call has a
// temperature of 0, 0.5 or 1. While nothing is valid, invalid programs are repaired.
//
// On purpose otherwise:
//   - similarity is that of token shingles, with programs of all islands, which asks nobody; there, the cosine of
//     embeddings, on the parent's island;
//   - a program that is refused, or a reply without one, has spent its call; there, up to 9 proposals are made of which
//     no budget knows;
//   - a parent's children are counted when they are asked for; there, when they are scored;
//   - the worst of equals that leaves is the oldest; there, any;
//   - a repair is shown no ancestors, and of the newest 32 invalid programs;
//   - instructions are this library's, one for a full rewrite; there, one of several variants.
//
// Its bandit over models is that over Config.Proposers. The original's notes (meta_rec_interval) and its evolution of
// system prompts are off by default, and are not here: see [population.Scratchpad].
func Shinka(s Setting) population.Config {
	islands := &population.Islands{}
	for _, l := range newElites(40, 2) {
		islands.Of = append(islands.Of, l)
	}
	c := s.config()
	c.Archive, c.Islands, c.Select = islands, bandit.Random{}, population.Weighted(10)
	c.Operators = []population.Operator{
		patch{Operator: population.Rewrite{Label: "diff", Form: task.AsDiff, Show: shownHere}},
		patch{Operator: population.Rewrite{Label: "full", Form: task.AsWhole, Show: shownHere,
			Instruction: "Write a different program for the task, to raise the score."}},
		patch{Operator: crossed{population.Cross{Select: population.Uniform()}}},
		patch{Operator: population.Repair{Select: population.Uniform()}, mends: true},
	}
	if !s.OwnTemperature {
		c.Temperatures = []float64{0, 0.5, 1}
	}
	c.Policy = bandit.Shares{0.6, 0.3, 0.1, 0.6} // the last one when the others cannot, and only then
	c.Gates = []population.Gate{&population.Unlike{Most: 0.99}}
	return c
}

// shownHere shows two programs of the parent's island.
func shownHere(v *population.View) []task.Section {
	return []task.Section{population.Inspirations(v.Part.(*shore).context(v.Parent, v.Rand)...)}
}

// patch is an operator. One that mends makes children while nothing is valid, and the others do else.
type patch struct {
	population.Operator
	mends bool
}

// Able reports whether the operator can make a child, and its time is now.
func (o patch) Able(v *population.View) bool {
	if o.mends != v.Part.(*shore).broken(v) {
		return false
	}
	a, ok := o.Operator.(interface{ Able(*population.View) bool })
	return !ok || a.Able(v)
}

// String names the operator.
func (o patch) String() string {
	name := o.Name()
	if !o.mends {
		name += " beside others"
	}
	return name
}

// crossed is a cross with one of the programs that are shown to other operators, and the others shown too.
type crossed struct{ population.Cross }

// Able reports whether there is one.
func (o crossed) Able(v *population.View) bool {
	return len(v.Part.(*shore).Members()) > 1
}

// Brief draws it.
func (o crossed) Brief(v *population.View) evolve.Brief {
	shown := v.Part.(*shore).context(v.Parent, v.Rand)
	i := v.Rand.IntN(len(shown))
	partner := shown[i]
	o.Select = population.SelectorFunc(func([]*population.Member, *rand.Rand) *population.Member { return partner })
	b := o.Cross.Brief(v)
	b.Sections = []task.Section{population.Inspirations(slices.Delete(shown, i, i+1)...)}
	return b
}
