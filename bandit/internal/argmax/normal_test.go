package argmax

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

type normal struct{ mean, sd float64 }

func normalChances(draws []normal) []float64 {
	var l Normal
	for arm, d := range draws {
		l.Add(arm, d.mean, d.sd)
	}
	p := make([]float64, len(draws))
	l.Probs(p)
	return p
}

// normalBruteForce is the integral of the definition by the trapezoidal rule on a uniform grid of ten
// points a standard deviation of the narrowest draw, in logarithms. There the rule is exact to
// rounding: its error for a Gaussian falls as exp(−2π²·10²).
func normalBruteForce(draws []normal) []float64 {
	lo, hi, step := math.Inf(-1), math.Inf(-1), math.Inf(1)
	for _, d := range draws {
		lo, hi, step = max(lo, d.mean-9*d.sd), max(hi, d.mean+9*d.sd), min(step, d.sd/10)
	}
	p := make([]float64, len(draws))
	for x := lo; x < hi; x += step {
		var log float64
		for _, d := range draws {
			log += math.Log(math.Erfc((d.mean-x)/(d.sd*math.Sqrt2)) / 2)
		}
		for i, d := range draws {
			u := (x - d.mean) / d.sd
			cdf := math.Erfc(-u/math.Sqrt2) / 2
			if cdf > 0 {
				p[i] += step * math.Exp(log-u*u/2) / (math.Sqrt(2*math.Pi) * d.sd * cdf)
			}
		}
	}
	return p
}

// normalPosteriors returns draws like those of arms after up to most pulls each; narrow puts their means
// so close together that all matter.
func normalPosteriors(rng *rand.Rand, arms, most int, narrow bool) []normal {
	draws := make([]normal, arms)
	for i := range draws {
		n := math.Floor(math.Pow(float64(most+1), rng.Float64())) - 1
		spread := 1.0
		if narrow {
			spread = 3 * 0.1 / math.Sqrt(1+n)
		}
		draws[i] = normal{0.5, 0.1 / math.Sqrt(1+n)}
		if n > 0 {
			draws[i].mean += spread * (rng.Float64() - 0.5)
		}
	}
	return draws
}

func farthest(a, b []float64) float64 {
	var d float64
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	return d
}

func TestNormalOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	for _, tt := range []struct{ arms, most, times int }{
		{1, 10, 1}, {2, 0, 1}, {2, 100, 20}, {3, 10, 20}, {3, 10000, 10}, {10, 0, 1}, {10, 20, 10}, {10, 500, 10},
		{100, 20, 3}, {300, 5, 1},
	} {
		for range tt.times {
			for _, narrow := range []bool{false, true} {
				draws := normalPosteriors(rng, tt.arms, tt.most, narrow)
				d := farthest(normalChances(draws), normalBruteForce(draws))
				worst = max(worst, d)
				if !(d <= 1e-10) {
					t.Errorf("%d arms of up to %d pulls, narrow %v: off by %v\n%v", tt.arms, tt.most, narrow, d, draws)
				}
			}
		}
	}
	t.Logf("off by at most %.1e", worst)
}

// With two draws the chance is Φ((m₁ − m₂)/sqrt(s₁² + s₂²)).
func TestNormalOfTwo(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		a := normal{rng.NormFloat64(), math.Exp(8 * rng.NormFloat64())}
		b := normal{rng.NormFloat64(), math.Exp(8 * rng.NormFloat64())}
		want := math.Erfc((b.mean-a.mean)/(math.Sqrt2*math.Hypot(a.sd, b.sd))) / 2
		if d := farthest(normalChances([]normal{a, b}), []float64{want, 1 - want}); !(d <= 1e-10) {
			t.Errorf("%v and %v: off by %v", a, b, d)
		}
	}
}

// The share of samples in which a draw is the largest is binomial; five standard deviations are
// allowed.
func TestNormalMonteCarlo(t *testing.T) {
	const samples = 100_000
	rng := rand.New(rand.NewPCG(5, 6))
	for _, arms := range []int{2, 5, 20} {
		draws := normalPosteriors(rng, arms, 50, true)
		wins := make([]float64, arms)
		for range samples {
			wins[sampleNormals(rng, draws)]++
		}
		for i, p := range normalChances(draws) {
			if got, sd := wins[i]/samples, math.Sqrt(p*(1-p)/samples); math.Abs(got-p) > 5*sd+1e-10 {
				t.Errorf("%d arms: arm %d won %v of the samples, want %v ± %v", arms, i, got, p, 5*sd)
			}
		}
	}
}

// sampleNormals draws once from each and returns which was the largest.
func sampleNormals(rng *rand.Rand, draws []normal) int {
	best, at := math.Inf(-1), 0
	for i, d := range draws {
		if x := d.mean + d.sd*rng.NormFloat64(); x > best {
			best, at = x, i
		}
	}
	return at
}

// However many arms, the accuracy stays.
func TestNormalManyArms(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 3 {
		draws := normalPosteriors(rng, 1000, 100, true)
		if d := farthest(normalChances(draws), normalBruteForce(draws)); !(d <= 1e-10) {
			t.Errorf("1000 arms: off by %v", d)
		}
		for i := range draws {
			draws[i].mean += 1e-9 * float64(i) // no two alike
		}
		if d := farthest(normalChances(draws), normalBruteForce(draws)); !(d <= 1e-10) {
			t.Errorf("1000 arms, no two alike: off by %v", d)
		}
	}
}

// Whatever the sizes, the sweep ends with a distribution.
func TestNormalAnySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	scale := func(digits float64) float64 { return math.Pow(10, digits*(2*rng.Float64()-1)) }
	for range 1500 {
		digits := scale(2)
		draws := make([]normal, 1+rng.IntN(6))
		for i := range draws {
			draws[i] = normal{scale(min(digits, 300)) * float64(rng.IntN(3)-1), scale(min(digits, 140))}
		}
		var sum float64
		for _, p := range normalChances(draws) {
			if !(p >= 0 && p <= 1+1e-12) {
				t.Fatalf("chance %v for %v", p, draws)
			}
			sum += p
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("chances sum to %v for %v", sum, draws)
		}
	}
}

func TestNormalSpecialCases(t *testing.T) {
	for _, tt := range []struct {
		reason string
		draws  []normal
		want   []float64
	}{
		{"one arm", []normal{{3, 1}}, []float64{1}},
		{"alike: even", []normal{{3, 1}, {3, 1}, {3, 1}, {3, 1}}, []float64{0.25, 0.25, 0.25, 0.25}},
		{"out of reach: no chance", []normal{{0, 1}, {100, 1}}, []float64{0, 1}},
		{"of means of the largest float64 one ulp makes all the difference",
			[]normal{{math.MaxFloat64, 1}, {math.Nextafter(math.MaxFloat64, 0), 1}, {-math.MaxFloat64, 1}}, []float64{1, 0, 0}},
		{"and the same means are even", []normal{{math.MaxFloat64, 1}, {-math.MaxFloat64, 1}, {math.MaxFloat64, 1}},
			[]float64{0.5, 0, 0.5}},
		{"a spike at the median of a wide one", []normal{{0, 1}, {0, 1e-100}}, []float64{0.5, 0.5}},
		{"two spikes, far finer than the wide one below them", []normal{{0, 1}, {20, 1e-12}, {20 + 1e-10, 1e-12}},
			[]float64{0, 0, 1}},
	} {
		if got := normalChances(tt.draws); !(farthest(got, tt.want) <= 1e-11) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// The quadrature beside a single sample of every draw, as sampling would have to repeat some 10²⁰
// times to be as accurate.
func BenchmarkNormal(b *testing.B) {
	for _, arms := range []int{10, 100, 1000} {
		rng := rand.New(rand.NewPCG(9, 10))
		draws := normalPosteriors(rng, arms, 100, true)
		b.Run(fmt.Sprintf("quadrature/K=%d", arms), func(b *testing.B) {
			var l Normal
			p := make([]float64, arms)
			for b.Loop() {
				l.Reset()
				for arm, d := range draws {
					l.Add(arm, d.mean, d.sd)
				}
				l.Probs(p)
			}
		})
		b.Run(fmt.Sprintf("one-sample/K=%d", arms), func(b *testing.B) {
			for b.Loop() {
				sampleNormals(rng, draws)
			}
		})
	}
}
