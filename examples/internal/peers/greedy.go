package peers

import "github.com/evoalloc/evoalloc/evolve/population"

// Greedy is evolve.Greedy, child for child. It is the baseline.
func Greedy(s Setting) population.Config { return s.config() }
