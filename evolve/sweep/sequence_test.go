package sweep

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// The sequence is what its source's formula gives, worked out the long way for a few means.
func TestSequenceIsItsFormula(t *testing.T) {
	const alpha, c = 0.1, 0.5
	r := rand.New(rand.NewPCG(3, 4))
	var xs []float64
	s := newConfidence(alpha)
	for range 60 {
		x := float64(r.IntN(3)) / 2
		x = math.Sqrt(x) // not only halves
		xs = append(xs, x)
		s.add(x)
		for _, m := range []float64{0.1, 0.4, 0.5, 0.6, 0.7, 0.95} {
			if got, want := s.excludes(m), wealth(xs, m, alpha, c) >= 1/alpha; got != want {
				t.Fatalf("after %d values %v is excluded: %v, want %v", len(xs), m, got, want)
			}
		}
	}
	low, high := s.interval()
	for _, edge := range []float64{low, high} {
		if w := wealth(xs, edge, alpha, c); math.Abs(w*alpha-1) > 1e-3 {
			t.Errorf("the capital at the edge %v of the interval is %v, want %v", edge, w, 1/alpha)
		}
	}
	if mean := s.mean(); !(low < mean && mean < high) {
		t.Errorf("the mean %v is not in %v to %v", mean, low, high)
	}
}

// wealth returns max(½K⁺, ½K⁻) at m.
func wealth(xs []float64, m, alpha, c float64) float64 {
	above, below := 0.5, 0.5
	for i, x := range xs {
		past := xs[:i]
		variance := 0.25
		for j := range past {
			sum := 0.5
			for _, y := range past[:j+1] {
				sum += y
			}
			d := past[j] - sum/float64(j+2)
			variance += d * d
		}
		n := float64(i + 1)
		variance /= n
		lambda := math.Sqrt(2 * math.Log(2/alpha) / (variance * n * math.Log(n+1)))
		above *= 1 + math.Min(lambda, c/m)*(x-m)
		below *= 1 - math.Min(lambda, c/(1-m))*(x-m)
	}
	return math.Max(above, below)
}

// Whoever looks after every value is wrong with a sequence at most as often as Alpha says, and with an interval for a
// fixed number of values several times as often.
func TestSequenceUnderPeeking(t *testing.T) {
	const values, alpha = 200, 0.05
	runs := notrun.Length(200.0, 1000)
	for _, tt := range []struct {
		reason string
		draw   func(r *rand.Rand) float64
	}{
		{"wins and losses", func(r *rand.Rand) float64 { return float64(r.IntN(2)) }},
		{"mostly ties", func(r *rand.Rand) float64 { return []float64{0, 0.5, 0.5, 0.5, 0.5, 1}[r.IntN(6)] }},
		{"any value", (*rand.Rand).Float64},
	} {
		r := rand.New(rand.NewPCG(11, 12))
		wrong, naive := 0, 0
		for range int(runs) {
			s := newConfidence(alpha)
			ever, everNaive := false, false
			sum, square := 0.0, 0.0
			for range values {
				x := tt.draw(r)
				s.add(x)
				ever = ever || s.excludes(0.5)
				sum, square = sum+x, square+x*x
				n := float64(len(s.values))
				sd := math.Sqrt(math.Max(square/n-sum/n*sum/n, 0))
				everNaive = everNaive || n >= 10 && math.Abs(sum/n-0.5) > 1.96*sd/math.Sqrt(n)
			}
			if ever {
				wrong++
			}
			if everNaive {
				naive++
			}
		}
		// Four standard deviations of the share. The seed is fixed.
		if got, most := float64(wrong)/runs, alpha+4*math.Sqrt(alpha*(1-alpha)/runs); got > most {
			t.Errorf("%s: the sequence excludes the mean in %v of the runs, at most %v is allowed", tt.reason, got, most)
		}
		if got := float64(naive) / runs; got < 3*alpha {
			t.Errorf("%s: peeking at intervals for a fixed number is wrong in %v only: the test would not see a wrong sequence",
				tt.reason, got)
		}
		t.Logf("%s: wrong in %.3f, intervals for a fixed number in %.3f", tt.reason, float64(wrong)/runs, float64(naive)/runs)
	}
}

// A difference that is there is found, and sooner the larger it is.
func TestSequenceDecides(t *testing.T) {
	for _, tt := range []struct {
		wins   float64
		within int // values, for at least nine in ten of the runs
	}{{1, 12}, {0.9, 40}, {0.75, 130}} {
		const runs = 200
		r, decided := rand.New(rand.NewPCG(5, 6)), 0
		for range runs {
			s := newConfidence(0.05)
			for len(s.values) < tt.within && !s.excludes(0.5) {
				x := 0.0
				if r.Float64() < tt.wins {
					x = 1
				}
				s.add(x)
			}
			if low, _ := s.interval(); s.excludes(0.5) && low > 0.5 {
				decided++
			}
		}
		if decided < runs*9/10 {
			t.Errorf("a share of %v is found within %d values in %d of %d runs", tt.wins, tt.within, decided, runs)
		}
	}
}

func TestSequenceRefuses(t *testing.T) {
	for name, f := range map[string]func(){
		"alpha 0":   func() { newConfidence(0) },
		"alpha 1":   func() { newConfidence(1) },
		"alpha NaN": func() { newConfidence(math.NaN()) },
		"below 0":   func() { newConfidence(0.1).add(-0.1) },
		"above 1":   func() { newConfidence(0.1).add(1.1) },
		"not a number": func() {
			newConfidence(0.1).add(math.NaN())
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	if low, high := newConfidence(0.05).interval(); low != 0 || high != 1 {
		t.Errorf("without values %v to %v, want 0 to 1", low, high)
	}
}
