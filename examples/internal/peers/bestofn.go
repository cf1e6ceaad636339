package peers

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// BestOfN rewrites one program five times, and goes on with the best of all then. Shown are four others, drawn from
// those of the best ten that are not the parent. The reply is a diff.
//
// On purpose otherwise: a parent's children are counted when they are asked for; there, when they are scored, of which
// with several under way a sixth may be of the same parent.
func BestOfN(s Setting) population.Config {
	c := s.config()
	c.Archive, c.Select = population.All(0), &patient{most: 5}
	c.Operators = []population.Operator{population.Rewrite{Form: task.AsDiff,
		Show: func(v *population.View) []task.Section {
			ranked := v.All.Members() // the best first
			return shownBeside(v, ranked[:min(bestPool, len(ranked))], population.Uniform())
		}}}
	return c
}

// bestPool is how many of the best programs those that are shown are drawn from.
const bestPool = 10

// patient selects the best program, and then the same one until it was selected so often.
type patient struct {
	most   int
	parent int // its ID
	times  int // that it was selected
}

var _ population.Selector = (*patient)(nil)

// Select returns the parent of before, or the best of from.
func (p *patient) Select(from []*population.Member, r *rand.Rand) *population.Member {
	at := slices.IndexFunc(from, func(m *population.Member) bool { return m.ID == p.parent })
	if at < 0 || p.times == 0 || p.times >= p.most {
		m := population.Best().Select(from, r)
		p.parent, p.times = m.ID, 1
		return m
	}
	p.times++
	return from[at]
}

// String names the selector and how often it selects one program.
func (p *patient) String() string { return fmt.Sprintf("Best(%d times)", p.most) }
