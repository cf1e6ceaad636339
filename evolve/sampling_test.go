package evolve

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

// The estimate of the noise is right whatever the programs are worth, and however many samples each has.
func TestSDIsUnbiased(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var noisy sampling
	const n = 20000
	for i := range n {
		m, k := 1+i%7, 1+i%3
		worth := 100 * r.Float64()
		sample := func(n int) float64 { return worth + 2*r.NormFloat64()/math.Sqrt(float64(n)) }
		noisy.sample(stat{sample(m), m}, sample(k), k)
	}
	// The variance of a variance of n degrees of freedom is 2σ⁴/n, so that of the estimate is about σ/√(2n).
	if sd := noisy.sd(); math.Abs(sd-2) > 4*2/math.Sqrt(2*n) {
		t.Errorf("sd is %v, want 2", sd)
	}
}

// childOf returns a child with a score.
func childOf(score float64) Child {
	return Child{Candidate: eval.Candidate{Program: "p", Result: eval.Result{Valid: true, Score: score}}}
}

// seen returns a program with the mean of n samples.
func seen(mean float64, n int) eval.Candidate {
	all := make([]eval.Result, n)
	for i := range all {
		all[i] = eval.Result{Valid: true, Score: mean}
	}
	return eval.Candidate{Program: "p", Result: eval.Pool(all...)}
}

func TestDue(t *testing.T) {
	noisy := func(children, most int) *sampling {
		noisy := &sampling{rate: 0.25, left: most}
		noisy.sample(stat{0, 1}, math.Sqrt2, 1) // a standard deviation of 1
		for range children {
			noisy.child(childOf(0.1), eval.Candidate{})
		}
		return noisy
	}
	for _, tt := range []struct {
		reason   string
		children int
		programs []eval.Candidate
		most     int
		want     []int
	}{
		{"one for four children", 7, []eval.Candidate{seen(1, 1)}, 9, []int{0}},
		{"none before", 3, []eval.Candidate{seen(1, 1)}, 9, nil},
		{"no more than there is room for", 40, []eval.Candidate{seen(1, 1)}, 2, []int{0, 0}},
		{"the best, until another could be better", 12, []eval.Candidate{seen(1, 1), seen(0.8, 1)}, 9, []int{0, 1, 0}},
		{"one that was scored often gives way to one that was scored once", 4, []eval.Candidate{seen(1, 16), seen(0.9, 1)}, 9, []int{1}},
		{"of equals the one with fewer samples", 4, []eval.Candidate{seen(1.5, 4), seen(1, 1)}, 9, []int{1}},
	} {
		if got := noisy(tt.children, tt.most).due(tt.programs); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// Scores that agree when they are taken again are left alone, but are looked at now and then. One lucky agreement is not
// taken for quiet, and a child that scores very badly does not make noise look small.
func TestQuiet(t *testing.T) {
	due := func(before func(*sampling)) int {
		quiet := &sampling{rate: 0.25, left: 1000}
		before(quiet)
		for range 320 {
			quiet.child(childOf(0.1), eval.Candidate{})
		}
		return len(quiet.due([]eval.Candidate{seen(1, 1)}))
	}
	same := func(times int) func(*sampling) {
		return func(t *sampling) {
			for range times {
				t.sample(stat{1, 1}, 1, 1)
			}
		}
	}
	if n := due(same(3)); n != 10 {
		t.Errorf("quiet: %d of 320 are due, want 10", n)
	}
	if n := due(same(2)); n != 80 {
		t.Errorf("agreed twice: %d of 320 are due, want 80", n)
	}
	if n := due(func(t *sampling) {
		for range 3 {
			t.sample(stat{1, 1}, 1.2, 1)
		}
		t.child(childOf(1e9), eval.Candidate{})
		t.child(Child{}, eval.Candidate{}) // without a score
	}); n < 78 || n > 80 { // until more children have come, the one that is far off is the median
		t.Errorf("noisy, with a child that is far off: %d of 320 are due, want about 80", n)
	}
}
