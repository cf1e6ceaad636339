package policies

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/race"
)

// between returns the contender of a name that has a search for each breadth of a list, "1+4+16". Its policy is one of
// all.
func between(all []race.Contender, name, policy, list string) (c race.Contender, err error) {
	breadths, err := breadthsOf(list)
	if err != nil {
		return c, err
	}
	i := slices.IndexFunc(all, func(c race.Contender) bool { return c.Name == policy })
	if i < 0 {
		return c, fmt.Errorf("unknown policy %q: with several breadths it is one of %s",
			policy, strings.Join(names(all), ", "))
	}
	c = all[i]
	if slices.Contains(cli.PolicyKeys(), policy) {
		c.New = policyOf(policy, func(sim.Setting) int { return 0 }) // how many pulls there will be is not known
	}
	c.Name = name
	for _, n := range breadths {
		c.Breadths = append(c.Breadths, breadth.Fixed(n))
	}
	return c, nil
}

// breadthsOf reads a list of numbers of children, "1+4+16".
func breadthsOf(list string) ([]int, error) {
	var breadths []int
	for _, item := range strings.Split(list, "+") {
		n, err := strconv.Atoi(item)
		if err != nil || n < 1 || n > evolve.MaxN {
			return nil, fmt.Errorf("breadths %q: need numbers of children, 1 to %d, as in 1+4+16", list, evolve.MaxN)
		}
		breadths = append(breadths, n)
	}
	return breadths, nil
}
