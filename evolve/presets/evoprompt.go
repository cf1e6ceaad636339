package presets

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/task"
)

// promptsKept is the size of EvoPrompt's populations.
const promptsKept = 10

// paraphrase returns the operator that makes children while there are too few programs to cross.
func paraphrase() population.Operator {
	return population.Rewrite{Label: "paraphrase",
		Instruction: "Write a variation of the program that does the same in another way."}
}

// EvoPromptGA keeps the 10 best programs that differ. Two parents by roulette wheel, with chances in proportion to
// their scores, are crossed and the outcome mutated, in one prompt. Scores at or below 0 have a small chance each, as a
// roulette wheel cannot have less than none.
func EvoPromptGA(c population.Config) population.Config {
	c.Archive, c.Select = &distinct{population.Top(promptsKept)}, population.ByWeight(fitness)
	c.Operators = []population.Operator{
		wheel{population.Cross{
			Instruction: "Cross over program 1 with the other one, and then mutate the program that results."}},
		paraphrase(),
	}
	return drawn(c, bandit.Shares{1, 0}, nil) // the second while the first cannot make a child
}

// distinct is an archive that keeps no program twice.
type distinct struct{ population.Archive }

// Add keeps m if the archive does and no other member is the same program.
func (d *distinct) Add(m population.Member) bool {
	same := func(k population.Member) bool { return k.Program == m.Program && k.ID != m.ID }
	return !slices.ContainsFunc(d.Members(), same) && d.Archive.Add(m)
}

func (d *distinct) String() string { return fmt.Sprintf("Distinct(%d)", promptsKept) }

// wheel is a cross of two programs by roulette wheel.
type wheel struct{ population.Cross }

func (o wheel) Brief(v *population.View) evolve.Brief {
	var second population.Member
	v.Parent, second = pairOf(v.Part.Members(), v.Rand)
	o.Select = the(second)
	return o.Cross.Brief(v)
}

// pairOf draws two members, each in proportion to its fitness, given that they differ.
func pairOf(from []population.Member, r *rand.Rand) (first, second population.Member) {
	largest := fitness(from[population.Best().Select(from, nil)])
	weights := make([]float64, len(from))
	for i, m := range from {
		for k, other := range from {
			if k != i {
				weights[i] += fitness(other) / largest
			}
		}
		weights[i] *= fitness(m) / largest
	}
	i := stream.Draw(weights, r)
	left := slices.Delete(slices.Clone(from), i, i+1)
	return from[i], left[population.ByWeight(fitness).Select(left, r)]
}

// EvoPromptDE keeps 10 programs. The prompt shows each of them in turn, two others and the best: what the two differ in
// is mutated, the best combined with it, and the outcome crossed with the first, whose place the child takes if it is
// better.
func EvoPromptDE(c population.Config) population.Config {
	c.Archive, c.Select = population.Heirs(promptsKept), population.Uniform()
	c.Operators = []population.Operator{
		difference{population.Cross{Label: "difference", Partners: 2, Instruction: "Find in which parts programs 2 and 3 " +
			"differ, and mutate these parts. Combine the best program, which is the inspiration, with what results. Then " +
			"cross over that with program 1."}},
		paraphrase(),
	}
	return drawn(c, bandit.Shares{1, 0}, nil) // the second while the first cannot make a child
}

// difference is a cross with two partners that shows the best program too.
type difference struct{ population.Cross }

// Able reports whether there are three programs.
func (difference) Able(v *population.View) bool { return len(v.Part.Members()) > 2 }

// Brief makes a child of the program whose turn it is, and adds the best one to what the cross shows.
func (o difference) Brief(v *population.View) evolve.Brief {
	members := v.Part.Members()
	v.Parent = members[(v.Birth-1)%len(members)]
	b := o.Cross.Brief(v)
	b.Sections = []task.Section{population.Inspirations(members[population.Best().Select(members, v.Rand)])}
	return b
}

func (o difference) String() string { return o.Name() + " beside the best" }
