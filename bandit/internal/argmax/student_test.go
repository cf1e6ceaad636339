package argmax

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func studentChances(draws []studentDraw) []float64 {
	var l Student
	for arm, d := range draws {
		l.Add(arm, d.mean, d.scale, d.nu)
	}
	p := make([]float64, len(draws))
	l.Probs(p)
	return p
}

// studentBruteForce is the integral of the definition by the trapezoidal rule on a grid that is even in
// asinh((x − m)/s), where m and s are of the draw of the largest mean, so fine at m and reaching far. The
// distribution functions are gonum's.
func studentBruteForce(draws []studentDraw) []float64 {
	ref := draws[0]
	for _, d := range draws {
		if d.mean > ref.mean {
			ref = d
		}
	}
	step := 0.02
	for _, d := range draws {
		step = min(step, 0.12*d.scale/math.Hypot(d.mean-ref.mean, ref.scale))
	}
	p := make([]float64, len(draws))
	cdf, pdf := make([]float64, len(draws)), make([]float64, len(draws))
	for u := -40.0; u < 40; u += step {
		x, dx := ref.mean+ref.scale*math.Sinh(u), ref.scale*math.Cosh(u)*step
		for i, d := range draws {
			s := distuv.StudentsT{Mu: d.mean, Sigma: d.scale, Nu: d.nu}
			cdf[i], pdf[i] = s.CDF(x), s.Prob(x)
		}
		for i := range draws {
			below := dx * pdf[i]
			for j := range draws {
				if j != i {
					below *= cdf[j]
				}
			}
			p[i] += below
		}
	}
	return p
}

// studentPosteriors returns draws like those of arms after up to most pulls each.
func studentPosteriors(rng *rand.Rand, arms, most int, nu float64) []studentDraw {
	draws := make([]studentDraw, arms)
	for i := range draws {
		n := math.Floor(math.Pow(float64(most+1), rng.Float64())) - 1
		draws[i] = studentDraw{mean: 0.5, scale: 0.1 * (0.5 + rng.Float64()) / math.Sqrt(1+n), nu: nu + n}
		if n > 0 {
			draws[i].mean += 0.3 * (rng.Float64() - 0.5)
		}
	}
	return draws
}

func TestStudentOracle(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	for _, tt := range []struct {
		arms, most int
		nu         float64
		times      int
	}{{1, 5, 2, 1}, {2, 0, 2, 1}, {2, 30, 2, 6}, {2, 5, 1, 4}, {3, 10, 2, 4}, {3, 200, 3.5, 2}, {6, 30, 2, 2}, {6, 3, 1, 2}, {10, 20, 2, 1}} {
		for range tt.times {
			draws := studentPosteriors(rng, tt.arms, tt.most, tt.nu)
			d := farthest(studentChances(draws), studentBruteForce(draws))
			worst = max(worst, d)
			if !(d <= 1e-10) {
				t.Errorf("%d arms of up to %d pulls and ν from %v: off by %v\n%+v", tt.arms, tt.most, tt.nu, d, draws)
			}
		}
	}
	t.Logf("off by at most %.1e", worst)
}

// Of two Cauchy draws (ν = 1) the difference is one too: the chance is ½ + atan((m₁ − m₂)/(s₁ + s₂))/π.
func TestStudentOfTwoCauchy(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	worst := 0.0
	for range 500 {
		a := studentDraw{mean: 3 * rng.NormFloat64(), scale: math.Exp(3 * rng.NormFloat64()), nu: 1}
		b := studentDraw{mean: 3 * rng.NormFloat64(), scale: math.Exp(3 * rng.NormFloat64()), nu: 1}
		want := 0.5 + math.Atan((a.mean-b.mean)/(a.scale+b.scale))/math.Pi
		d := farthest(studentChances([]studentDraw{a, b}), []float64{want, 1 - want})
		worst = max(worst, d)
		if !(d <= 1e-10) {
			t.Errorf("%+v and %+v: off by %v", a, b, d)
		}
	}
	t.Logf("off by at most %.1e", worst)
}

// With many degrees of freedom Student's t is normal, to 1/ν.
func TestStudentIsNormalInTheLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, nu := range []float64{1e8, 1e12, 1e300} {
		for range 20 {
			draws, like := normalPosteriors(rng, 1+rng.IntN(20), 50, true), []studentDraw{}
			for _, d := range draws {
				like = append(like, studentDraw{mean: d.mean, scale: d.sd, nu: nu})
			}
			if d := farthest(studentChances(like), normalChances(draws)); !(d <= 1e-10+1/nu) {
				t.Errorf("ν = %v: off by %v\n%v", nu, d, draws)
			}
		}
	}
}

// The share of samples in which a draw is the largest is binomial; five standard deviations are allowed.
func TestStudentMonteCarlo(t *testing.T) {
	const samples = 50_000
	rng := rand.New(rand.NewPCG(7, 8))
	for _, arms := range []int{3, 20} {
		draws := studentPosteriors(rng, arms, 20, 2)
		wins := make([]float64, arms)
		for range samples {
			best, at := math.Inf(-1), 0
			for i, d := range draws {
				if x := (distuv.StudentsT{Mu: d.mean, Sigma: d.scale, Nu: d.nu, Src: rng}).Rand(); x > best {
					best, at = x, i
				}
			}
			wins[at]++
		}
		for i, p := range studentChances(draws) {
			if got, sd := wins[i]/samples, math.Sqrt(p*(1-p)/samples); math.Abs(got-p) > 5*sd+1e-10 {
				t.Errorf("%d arms: arm %d won %v of the samples, want %v ± %v", arms, i, got, p, 5*sd)
			}
		}
	}
}

// Whatever the sizes, the sweep ends with a distribution.
func TestStudentAnySize(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	scale := func(digits float64) float64 { return math.Pow(10, digits*(2*rng.Float64()-1)) }
	for range 1000 {
		digits := scale(2)
		draws := make([]studentDraw, 1+rng.IntN(6))
		for i := range draws {
			draws[i] = studentDraw{mean: scale(min(digits, 100)) * float64(rng.IntN(3)-1), scale: scale(min(digits, 100)), nu: 1 + scale(3)}
		}
		var sum float64
		for _, p := range studentChances(draws) {
			if !(p >= 0 && p <= 1+1e-12) {
				t.Fatalf("chance %v for %+v", p, draws)
			}
			sum += p
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("chances sum to %v for %+v", sum, draws)
		}
	}
}

func TestStudentSpecialCases(t *testing.T) {
	for _, tt := range []struct {
		reason string
		draws  []studentDraw
		want   []float64
	}{
		{"one arm", []studentDraw{{mean: 3, scale: 1, nu: 2}}, []float64{1}},
		{"alike: even", []studentDraw{{scale: 1, nu: 2}, {scale: 1, nu: 2}, {scale: 1, nu: 2}, {scale: 1, nu: 2}}, []float64{0.25, 0.25, 0.25, 0.25}},
		{"alike but for nothing: even", []studentDraw{{scale: 1, nu: 2}, {scale: 1 + 1e-15, nu: 2}, {scale: 1, nu: 2 + 1e-15}, {mean: 1e-16, scale: 1, nu: 2}}, []float64{0.25, 0.25, 0.25, 0.25}},
		{"ten thousand scales behind with ν = 2: 1/(2·10⁸), as S(z) = 1/(2z²)", []studentDraw{{mean: 1e4, scale: 1e-9, nu: 50}, {scale: 1, nu: 2}}, []float64{1 - 0.5e-8, 0.5e-8}}, // less 1.5e-16
		{"a spike at the median of a wide one", []studentDraw{{scale: 1, nu: 2}, {scale: 1e-100, nu: 5}}, []float64{0.5, 0.5}},
		{"a spike at a quartile: of ν = 1 that is 1", []studentDraw{{scale: 1, nu: 1}, {mean: 1, scale: 1e-9, nu: 50}}, []float64{0.25, 0.75}},
		{"two spikes, far finer than the wide one below them, of which 0.0012 is above", []studentDraw{{scale: 1, nu: 2}, {mean: 20, scale: 1e-12, nu: 9}, {mean: 20 + 1e-10, scale: 1e-12, nu: 1000}}, []float64{0.5 - 0.5*20/math.Sqrt(402), 0, 0.5 + 0.5*20/math.Sqrt(402)}},
	} {
		if got := studentChances(tt.draws); !(farthest(got, tt.want) <= 1e-10) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// A spike too fine to be told apart from its neighbors, below a wide draw of which 0.788675 is above it.
func TestStudentLostInRounding(t *testing.T) {
	want := []float64{0.5 + 0.5/math.Sqrt(3), 0.5 - 0.5/math.Sqrt(3)}
	got := studentChances([]studentDraw{{scale: 1e90, nu: 2}, {mean: -1e90, scale: 0.01, nu: 50}})
	if farthest(got, want) > 1e-3 {
		t.Errorf("%v, want about %v", got, want)
	}
}

func TestLogGammaHalf(t *testing.T) {
	for _, tt := range []struct{ a, want float64 }{
		{0.5, -math.Log(math.Pi) / 2},                // Γ(1)/Γ(1/2)
		{1, math.Log(math.Pi)/2 - math.Ln2},          // Γ(3/2)/Γ(1)
		{19.999999, 1.49161676201890096743862960006}, // below and
		{20.000001, 1.4916168126437058984337352902},  // above where the series takes over
		{1e15, math.Log(1e15) / 2},
	} {
		if got := logGammaHalf(tt.a); math.Abs(got-tt.want) > 3e-14*max(1, math.Abs(tt.want)) {
			t.Errorf("at %v: %v, want %v", tt.a, got, tt.want)
		}
	}
}

func BenchmarkStudent(b *testing.B) {
	for _, arms := range []int{10, 100, 1000} {
		rng := rand.New(rand.NewPCG(9, 10))
		draws := studentPosteriors(rng, arms, 100, 2)
		b.Run(fmt.Sprintf("quadrature/K=%d", arms), func(b *testing.B) {
			var l Student
			p := make([]float64, arms)
			for b.Loop() {
				l.Reset()
				for arm, d := range draws {
					l.Add(arm, d.mean, d.scale, d.nu)
				}
				l.Probs(p)
			}
		})
	}
}
