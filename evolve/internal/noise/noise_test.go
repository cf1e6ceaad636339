package noise_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/internal/noise"
)

// The estimate of the noise is right whatever the programs are worth, and however many samples each has.
func TestSDIsUnbiased(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var tally noise.Tally
	const n = 20000
	for i := range n {
		m, k := 1+i%7, 1+i%3
		worth := 100 * r.Float64()
		sample := func(n int) float64 { return worth + 2*r.NormFloat64()/math.Sqrt(float64(n)) }
		tally.Sample(noise.Stat{Mean: sample(m), N: m}, sample(k), k)
	}
	// The variance of a variance of n degrees of freedom is 2σ⁴/n, so that of the estimate is about σ/√(2n).
	if sd := tally.SD(); math.Abs(sd-2) > 4*2/math.Sqrt(2*n) {
		t.Errorf("SD is %v, want 2", sd)
	}
}

func TestDue(t *testing.T) {
	noisy := func(children int) *noise.Tally {
		tally := &noise.Tally{Rate: 0.25}
		tally.Sample(noise.Stat{Mean: 0, N: 1}, math.Sqrt2, 1) // a standard deviation of 1
		for range children {
			tally.Child(0.1)
		}
		return tally
	}
	for _, tt := range []struct {
		reason   string
		children int
		programs []noise.Stat
		most     int
		want     []int
	}{
		{"one for four children", 7, []noise.Stat{{1, 1}}, 9, []int{0}},
		{"none before", 3, []noise.Stat{{1, 1}}, 9, nil},
		{"no more than there is room for", 40, []noise.Stat{{1, 1}}, 2, []int{0, 0}},
		{"the best, until another could be better", 12, []noise.Stat{{1, 1}, {0.8, 1}}, 9, []int{0, 1, 0}},
		{"one that was scored often gives way to one that was scored once", 4, []noise.Stat{{1, 16}, {0.9, 1}}, 9, []int{1}},
		{"of equals the one with fewer samples", 4, []noise.Stat{{1.5, 4}, {1, 1}}, 9, []int{1}},
	} {
		if got := noisy(tt.children).Due(tt.programs, tt.most); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// Scores that agree when they are taken again are left alone, but are looked at now and then. One lucky agreement is not
// taken for quiet, and a child that scores very badly does not make noise look small.
func TestQuiet(t *testing.T) {
	due := func(before func(*noise.Tally)) int {
		tally := &noise.Tally{Rate: 0.25}
		before(tally)
		for range 320 {
			tally.Child(0.1)
		}
		return len(tally.Due([]noise.Stat{{1, 1}}, 1000))
	}
	same := func(times int) func(*noise.Tally) {
		return func(t *noise.Tally) {
			for range times {
				t.Sample(noise.Stat{Mean: 1, N: 1}, 1, 1)
			}
		}
	}
	if n := due(same(3)); n != 10 {
		t.Errorf("quiet: %d of 320 are due, want 10", n)
	}
	if n := due(same(2)); n != 80 {
		t.Errorf("agreed twice: %d of 320 are due, want 80", n)
	}
	if n := due(func(t *noise.Tally) {
		for range 3 {
			t.Sample(noise.Stat{Mean: 1, N: 1}, 1.2, 1)
		}
		t.Child(1e9)
		t.Child(math.NaN())
	}); n < 78 || n > 80 { // until more children have come, the one that is far off is the median
		t.Errorf("noisy, with a child that is far off: %d of 320 are due, want about 80", n)
	}
}
