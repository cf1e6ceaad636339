package presets

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// DGM keeps every valid program. Parents are weighted by score and by few children that are kept,
// σ(10·(F − 0.5))/(1 + children), and asked for a change that follows from what went wrong. Invalid programs are
// mended, by a tenth of the children. Where scores are not all from 0 to 1 the weight is [population.Weighted]'s, as
// that of shares of solved problems would be the same for all.
func DGM(c population.Config) population.Config {
	c.Archive, c.Select = descent{population.All()}, byDescent{}
	c.Operators = []population.Operator{
		population.Rewrite{Label: "improve",
			Instruction: "Find what keeps the program from a higher score, propose one improvement, and implement it."},
		population.Repair{},
	}
	return drawn(c, bandit.Shares{0.9, 0.1}, nil)
}

// descent is an archive of all.
type descent struct{ population.Archive }

func (descent) String() string { return "Descent" }

// byDescent selects by score and by children.
//
// Source: DGM_outer.py, choose_selfimproves.
type byDescent struct{}

// Select returns one of from.
func (byDescent) Select(from []population.Member, r *rand.Rand) int {
	children := map[int]int{}
	for _, m := range from {
		if len(m.Parents) > 0 {
			children[m.Parents[0]]++
		}
	}
	if slices.ContainsFunc(from, func(m population.Member) bool { return m.Result.Score < 0 || m.Result.Score > 1 }) {
		return population.Weighted(10).Select(from, r)
	}
	return population.ByWeight(func(m population.Member) float64 {
		return 1 / (1 + math.Exp(-10*(m.Result.Score-0.5))) / float64(1+children[m.ID])
	}).Select(from, r)
}

func (byDescent) String() string { return "ByDescent" }
