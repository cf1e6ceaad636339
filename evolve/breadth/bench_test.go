package breadth_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
)

// What a decision costs, early and late in a search. It is made before each step, so it must not grow with the search.
func BenchmarkBreadth(b *testing.B) {
	for _, of := range []evolve.Breadth{breadth.Adaptive{}, breadth.Adaptive{Second: 5}} {
		for _, steps := range []int{10, 1000, 100_000} {
			past := made(steps, 2, 0, time.Second)
			b.Run(fmt.Sprintf("%T/%d", of, steps), func(b *testing.B) {
				for b.Loop() {
					of.Children(past)
				}
			})
		}
	}
}
