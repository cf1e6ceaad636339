package step

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The estimate of the noise is right whatever the programs are worth, and however many samples each has.
func TestSDIsUnbiased(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var noisy Schedule
	const n = 20000
	for i := range n {
		m, k := 1+i%7, 1+i%3
		worth := 100 * r.Float64()
		sample := func(n int) float64 { return worth + 2*r.NormFloat64()/math.Sqrt(float64(n)) }
		noisy.Sample(Stat{sample(m), m}, sample(k), k)
	}
	// The variance of a variance of n degrees of freedom is 2σ⁴/n, so that of the estimate is about σ/√(2n).
	if sd := noisy.sd(); math.Abs(sd-2) > 4*2/math.Sqrt(2*n) {
		t.Errorf("sd is %v, want 2", sd)
	}
}

func TestDue(t *testing.T) {
	noisy := func(children, most int) *Schedule {
		noisy := &Schedule{rate: 0.25, left: most}
		noisy.Sample(Stat{0, 1}, math.Sqrt2, 1) // a standard deviation of 1
		for range children {
			noisy.Child(true, 0.1)
		}
		return noisy
	}
	for _, tt := range []struct {
		reason   string
		children int
		programs []Stat
		most     int
		want     []int
	}{
		{"one for four children", 7, []Stat{{1, 1}}, 9, []int{0}},
		{"none before", 3, []Stat{{1, 1}}, 9, nil},
		{"no more than there is room for", 40, []Stat{{1, 1}}, 2, []int{0, 0}},
		{"the best, until another could be better", 12, []Stat{{1, 1}, {0.8, 1}}, 9, []int{0, 1, 0}},
		{"one that was scored often gives way to one that was scored once", 4, []Stat{{1, 16}, {0.9, 1}}, 9, []int{1}},
		{"of equals the one with fewer samples", 4, []Stat{{1.5, 4}, {1, 1}}, 9, []int{1}},
	} {
		if got := noisy(tt.children, tt.most).Due(tt.programs); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// Scores that agree when they are taken again are left alone, but are looked at now and then. One lucky agreement
// is not taken for quiet, and a child that scores very badly does not make noise look small.
func TestQuiet(t *testing.T) {
	due := func(before func(*Schedule)) int {
		quiet := &Schedule{rate: 0.25, left: 1000}
		before(quiet)
		for range 320 {
			quiet.Child(true, 0.1)
		}
		return len(quiet.Due([]Stat{{1, 1}}))
	}
	same := func(times int) func(*Schedule) {
		return func(t *Schedule) {
			for range times {
				t.Sample(Stat{1, 1}, 1, 1)
			}
		}
	}
	if n := due(same(3)); n != 10 {
		t.Errorf("quiet: %d of 320 are due, want 10", n)
	}
	if n := due(same(2)); n != 80 {
		t.Errorf("agreed twice: %d of 320 are due, want 80", n)
	}
	if n := due(func(t *Schedule) {
		for range 3 {
			t.Sample(Stat{1, 1}, 1.2, 1)
		}
		t.Child(true, -1e9)
		t.Child(false, 0) // without a score
	}); n < 78 || n > 80 { // until more children have come, the one that is far off is the median
		t.Errorf("noisy, with a child that is far off: %d of 320 are due, want about 80", n)
	}
}
