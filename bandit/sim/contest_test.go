package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Sorting by counting puts the runs that a comparison would put there.
func TestRankPulls(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	for range 200 {
		first := make([]int, 1+r.IntN(20))
		for i := range first {
			first[i] = r.IntN(12) - 1 // NotReached is -1
		}
		got, want := rankPulls(first), slices.Clone(first)
		slices.SortFunc(want, func(a, b int) int { return compareReach(b, a) })
		for i, run := range got.runs {
			if got.values[i] != want[i] || first[run] != want[i] {
				t.Fatalf("%v ranked as %v of runs %v, want %v", first, got.values, got.runs, want)
			}
		}
	}
}
