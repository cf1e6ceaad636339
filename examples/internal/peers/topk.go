package peers

import (
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// contextShown is how many programs SkyDiscover's searches show beside the parent.
const contextShown = 4

// TopK rewrites the best program, and shows the four that rank next. The reply is a diff.
//
// On purpose otherwise: a lone program is not shown beside itself, and the best is shown last; there, first.
func TopK(s Setting) population.Config {
	c := s.config()
	c.Archive, c.Select = population.Top(1+contextShown), population.Best()
	c.Operators = []population.Operator{population.Rewrite{Form: task.AsDiff, Show: nextBest}}
	return c
}

// nextBest returns the best programs but for the parent.
func nextBest(v *population.View) []task.Section {
	return shownBeside(v, v.All.Members(), population.Best())
}

// shownBeside returns the section of so many programs besides the parent, the first that is sampled last.
func shownBeside(v *population.View, from []*population.Member, by population.Selector) []task.Section {
	return []task.Section{bestLast(v.Sample(from, by, contextShown))}
}
