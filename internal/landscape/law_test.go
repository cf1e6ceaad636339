package landscape

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Each law has mean 0 and standard deviation 1. Of two million draws the mean is off by 0.0007; the deviation of a law with
// heavy tails converges slowly.
func TestLaws(t *testing.T) {
	for _, law := range Laws() {
		r := rand.New(rand.NewPCG(1, 1))
		const n = 2_000_000
		var sum, squares, below, under float64
		for range n {
			v := law.draw(r)
			sum, squares = sum+v, squares+v*v
			if v < -3 {
				below++
			}
			if v < law.median() {
				under++
			}
		}
		if mean, sd := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 0.004 || math.Abs(sd-1) > 0.1 {
			t.Errorf("%s: mean %.4f, standard deviation %.4f", law, mean, sd)
		}
		if math.Abs(under/n-0.5) > 0.002 {
			t.Errorf("%s: a share of %.4f is below the median", law, under/n)
		}
		if tail := below / n; (law == Normal) != (tail < 0.002) {
			t.Errorf("%s: a share of %.4f is more than three deviations below", law, tail)
		}
	}
}
