package peers

import (
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// AdaEvolve has two islands of 20, drawn by UCB over decayed gains, whose 5 best are copied to the next one every 15
// children. How a child's parent is chosen follows [Intensity]: uniformly (explore), uniformly among the best quarter
// (exploit), or between (balanced).
//
// On purpose otherwise:
//   - the intensity is the search's; there, each island has its own. The policy over operators is not told of islands;
//   - gains are relative to the search's best, for islands and intensity alike;
//   - balanced is by rank, p ∝ 1/rank;
//   - there are always two islands; there, up to five, begun when gains are small.
//
// When scores stand still it has a model invent strategies, which this does not: see [population.Explore] and
// [population.Scratchpad].
func AdaEvolve(s Setting) population.Config {
	c := s.config()
	c.Archive = &population.Islands{Of: []population.Archive{population.Top(20), population.Top(20)}, Every: 15,
		Rate: 5. / 20}
	c.Islands = bandit.Discounted(&bandit.UCB1{C: 1.41}, 0.9)
	c.Operators = []population.Operator{
		of{population.Uniform(), population.Rewrite{Label: "explore",
			Instruction: "Write a program that solves the task by a different method than this one."}},
		of{population.Elite(0.25), population.Rewrite{Label: "exploit"}},
		of{population.PowerLaw(1), population.Rewrite{Label: "balanced"}},
	}
	c.Policy, c.Credit = &Intensity{}, relative()
	return c
}

// of is an operator that selects its own parent.
type of struct {
	by population.Selector
	population.Operator
}

// Brief selects the parent on the island that breeds.
func (o of) Brief(v *population.View) evolve.Brief {
	v.Parent = o.by.Select(v.Part.Members(), v.Rand)
	return o.Operator.Brief(v)
}

// String names the selector, which the operator's name does not tell.
func (o of) String() string { return fmt.Sprintf("%s of %v", o.Name(), o.by) }

// relative credits a child that is better than all before it with its gain δ = min(1, (f − best)/(|best| + ε)), and any
// other with 0. As [population.Improved] it learns nothing from a call that brought no answer.
func relative() func(population.Birth) (gain float64, ok bool) {
	best, known := 0.0, false
	return func(b population.Birth) (gain float64, ok bool) {
		if b.Asked() && !b.Answered() {
			return 0, false
		}
		if !known && b.Parent.Result.Valid {
			best, known = b.Parent.Result.Score, true
		}
		if !b.Scored() || !b.Result.Valid || known && b.Result.Score <= best {
			return 0, true
		}
		if known {
			gain = min(1, (b.Result.Score-best)/(math.Abs(best)+tiny))
		}
		best, known = b.Result.Score, true
		return gain, true
	}
}
