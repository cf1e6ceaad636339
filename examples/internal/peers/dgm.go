package peers

import (
	"math"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// DGM keeps every valid program. Parents are weighted by score and by few children that are kept,
// σ(10·(F − 0.5))/(1 + children), and asked for a change that follows from what went wrong. Invalid programs are
// mended.
//
// On purpose otherwise:
//   - where scores are not all from 0 to 1 the weight is [population.Weighted]'s, as that of shares of solved problems
//     would be the same for all;
//   - a tenth of the children are repairs of what is invalid; there, the agent mends itself within its own call.
//
// There, the program is the agent that changes it, what it is asked for is drawn from problems that it did not solve,
// and evaluation is staged from 10 problems to 200. These are the task's.
func DGM(s Setting) population.Config {
	d := &descent{Archive: population.All(0), children: make(map[int]int)}
	c := s.config()
	c.Archive, c.Select = d, byDescent{d}
	c.Operators = []population.Operator{
		population.Rewrite{Label: "improve",
			Instruction: "Find what keeps the program from a higher score, propose one improvement, and implement it."},
		population.Repair{},
	}
	c.Policy = bandit.Shares{0.9, 0.1}
	return c
}

// descent is an archive that counts the children of programs that it was given.
type descent struct {
	population.Archive
	children map[int]int // by ID of the program that they were made from
}

// Add counts m among the children of its parent.
func (d *descent) Add(m *population.Member) bool {
	if len(m.Parents) > 0 {
		d.children[m.Parents[0]]++
	}
	return d.Archive.Add(m)
}

// String names the archive.
func (d *descent) String() string { return "Descent" }

// byDescent selects by score and by children.
//
// Source: DGM_outer.py, choose_selfimproves.
type byDescent struct{ *descent }

var _ population.Selector = byDescent{}

// Select returns one of from.
func (s byDescent) Select(from []*population.Member, r *rand.Rand) *population.Member {
	for _, m := range from {
		if m.Result.Score < 0 || m.Result.Score > 1 {
			return population.Weighted(10).Select(from, r)
		}
	}
	return population.ByWeight(func(m *population.Member) float64 {
		return 1 / (1 + math.Exp(-10*(m.Result.Score-0.5))) / float64(1+s.children[m.ID])
	}).Select(from, r)
}

// String names the selector.
func (byDescent) String() string { return "ByDescent" }
