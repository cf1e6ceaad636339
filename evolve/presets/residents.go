package presets

import (
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A resident is a program on an island. A migrant is a copy of one.
type resident struct {
	population.Member
	island  int
	migrant bool
	outline outline // AdaEvolve's
}

// Residents are programs, the oldest first.
type residents []*resident

// ranked returns them best first, and of equals the older first.
func (l residents) ranked() residents {
	l = slices.Clone(l)
	slices.SortStableFunc(l, byScore)
	return l
}

// rising returns them with the best last, as models weigh what comes last most, and of equals in their order.
func (l residents) rising() residents {
	l = slices.Clone(l)
	slices.SortStableFunc(l, func(a, b *resident) int { return byScore(b, a) })
	return l
}

func byScore(a, b *resident) int { return population.Compare(a.Member, b.Member) }

// top returns the n best, the best first.
func (l residents) top(n int) residents { return l.ranked()[:min(n, len(l))] }

// has reports whether one is the program.
func (l residents) has(program string) bool {
	return slices.ContainsFunc(l, func(r *resident) bool { return r.Program == program })
}

// without returns them without r.
func (l residents) without(r *resident) residents {
	return slices.DeleteFunc(slices.Clone(l), func(k *resident) bool { return k == r })
}

// any returns one of them, each with the same chance.
func (l residents) any(r *rand.Rand) *resident { return l[r.IntN(len(l))] }

// draw returns one of them with a chance in proportion to its weight.
func (l residents) draw(weight func(*resident) float64, r *rand.Rand) *resident {
	weights := make([]float64, len(l))
	for i, k := range l {
		weights[i] = weight(k)
	}
	return l[stream.Draw(weights, r)]
}

func (l residents) members() []population.Member {
	members := make([]population.Member, len(l))
	for i, r := range l {
		members[i] = r.Member
	}
	return members
}

// replace replaces the member that has m's ID, as [population.Replace] does.
func (l residents) replace(m population.Member) bool {
	i := slices.IndexFunc(l, func(r *resident) bool { return r.ID == m.ID })
	if i >= 0 {
		l[i].Member = m
	}
	return i >= 0
}

// once returns the members in their order, each program once, and without the parent's.
func once(parent population.Member, members []population.Member) (list []population.Member) {
	seen := map[string]bool{parent.Program: true}
	for _, m := range members {
		if !seen[m.Program] {
			seen[m.Program] = true
			list = append(list, m)
		}
	}
	return list
}

// the returns a selector of one member, or of the first if that is not among those to choose from.
func the(m population.Member) population.Selector {
	return population.SelectorFunc(func(from []population.Member, _ *rand.Rand) int {
		return max(0, slices.IndexFunc(from, func(k population.Member) bool { return k.ID == m.ID }))
	})
}

// fitness is a score as the chance of a roulette wheel. Scores below 0 all have the same small one.
func fitness(m population.Member) float64 { return max(m.Result.Score, 0.001) }
