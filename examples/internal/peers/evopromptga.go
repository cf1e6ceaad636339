package peers

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// EvoPromptGA keeps the 10 best programs that differ. Two parents by roulette wheel, with chances in proportion to
// their scores, are crossed and the outcome mutated, in one prompt.
//
// On purpose otherwise:
//   - it begins with one program, and rewrites of it until there are two; there, with 10 that a person and a model
//     wrote;
//   - scores at or below 0 have a small chance each, as a roulette wheel cannot have less than none. There, scores are
//     shares of right answers;
//   - parents are two different programs; there, the wheel may draw one twice;
//   - a step of N children has the parents of then; there, N is 10, whose parents are of one set of 10 draws.
func EvoPromptGA(s Setting) population.Config {
	c := s.config()
	c.Archive, c.Select = &distinct{Archive: population.Top(promptsKept), size: promptsKept}, population.ByWeight(fitness)
	c.Operators = []population.Operator{
		wheel{population.Cross{
			Instruction: "Cross over program 1 with the other one, and then mutate the program that results."}},
		population.Rewrite{Label: "paraphrase",
			Instruction: "Write a variation of the program that does the same in another way."},
	}
	c.Policy = bandit.Shares{1, 0} // the second while the first cannot make a child
	return c
}

// promptsKept is the size of EvoPrompt's populations.
const promptsKept = 10

// distinct is an archive that keeps no program twice.
type distinct struct {
	population.Archive
	size int
}

// Add keeps m if the archive does and no member is the same program.
func (d *distinct) Add(m *population.Member) bool {
	same := func(k *population.Member) bool { return k.Program == m.Program }
	return !slices.ContainsFunc(d.Members(), same) && d.Archive.Add(m)
}

// String names the archive.
func (d *distinct) String() string { return fmt.Sprintf("Distinct(%d)", d.size) }

// wheel is a cross of two programs by roulette wheel.
type wheel struct{ population.Cross }

// Brief draws both.
func (o wheel) Brief(v *population.View) evolve.Brief {
	first, second := pairOf(v.Part.Members(), v.Rand)
	v.Parent = first
	o.Select = population.SelectorFunc(func([]*population.Member, *rand.Rand) *population.Member { return second })
	return o.Cross.Brief(v)
}

// pairOf draws two members, each in proportion to its fitness, given that they differ.
func pairOf(from []*population.Member, r *rand.Rand) (first, second *population.Member) {
	largest := 0.0
	for _, m := range from {
		largest = max(largest, fitness(m))
	}
	others := func(m *population.Member) (sum float64) {
		for _, k := range from {
			if k != m {
				sum += fitness(k) / largest
			}
		}
		return sum
	}
	weight := func(m *population.Member) float64 { return fitness(m) / largest * others(m) }
	first = population.ByWeight(weight).Select(from, r)
	left := slices.DeleteFunc(slices.Clone(from), func(m *population.Member) bool { return m == first })
	return first, population.ByWeight(fitness).Select(left, r)
}
