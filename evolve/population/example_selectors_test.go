package population_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/evolve/population"
)

// shares prints how often, in percent, a selector chooses each of four members. They score 4, 3, 2 and 0, and were
// asked for 8, 0, 0 and 0 children.
func shares(s population.Selector) {
	var from []population.Member
	for i, score := range []float64{4, 3, 2, 0} {
		from = append(from, asked(i, score, 8*(1-min(i, 1))))
	}
	r, n := rand.New(rand.NewPCG(1, 1)), make([]float64, len(from))
	for range 20_000 {
		n[s.Select(from, r)]++
	}
	for i := range n {
		n[i] = math.Round(n[i] / 200)
	}
	fmt.Println(s, n)
}

// A good program that was often asked for children gives way to one that was not.
func ExampleWeighted() {
	shares(population.Weighted(10))
	// Output:
	// Weighted(10) [10 90 0 0]
}

// Selection in proportion to the score, as in the first genetic algorithms.
func ExampleByWeight() {
	shares(population.ByWeight(func(m population.Member) float64 { return m.Result.Score }))
	// Output:
	// ByWeight [44 33 23 0]
}

// A selector of one's own: the oldest member.
func ExampleSelectorFunc() {
	oldest := population.SelectorFunc(func(from []population.Member, _ *rand.Rand) int {
		first := 0
		for i, m := range from {
			if m.ID < from[first].ID {
				first = i
			}
		}
		return first
	})
	res := search(population.Config{N: 4, Archive: population.Top(3), Select: oldest}, 20)
	fmt.Println(res.Calls, "calls")
	// Output: 20 calls
}
