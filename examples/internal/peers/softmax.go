package peers

import "github.com/evoalloc/evoalloc/evolve/population"

// Softmax is what this library does by default where programs can be asked for in more ways than one: an archive of
// one, and two operators under the softmax bandit of [population.Config]. No system is like it. It has what controlled
// comparisons have found to help, large edits at times, and leaves out what they have not: islands, gates, memories.
func Softmax(s Setting) population.Config {
	c := s.config()
	c.Operators = []population.Operator{population.Rewrite{}, population.Explore{}}
	return c
}
