package analysis

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// The study of coverage takes minutes:
//
//	go test ./evolve/analysis -run TestCoverage -v -coverage-draws 1000 -coverage-samples 2000
var (
	coverageDraws   = flag.Int("coverage-draws", 100, "surfaces to draw in TestCoverage")
	coverageSamples = flag.Int("coverage-samples", 300, "bootstrap samples of each")
)

// A known surface, and how far its searches are from it.
type known struct {
	why           string
	b0, a, b, c   float64
	most          int // the largest budget, and that of the best depth
	seeds         int
	concentration float64 // of a search's steps; less is noisier
	shared        float64 // sd of what all searches of a seed have in common, on the logarithm
}

// runs draws the searches: for each breadth and seed the gap falls in every generation that is a power of two by a
// factor from a beta distribution, independent of the others, with such a mean that the mean gap is the surface's
// exactly. So a search never loses what it has, its scores at several depths go together, and its gap spreads more
// the longer it has run.
func (k known) runs(r *rand.Rand) []Curve {
	var runs []Curve
	common := make([]float64, k.seeds)
	for s := range common {
		common[s] = math.Exp(k.shared*r.NormFloat64() - k.shared*k.shared/2)
	}
	for n := 1; n <= k.most; n *= 2 {
		for seed := range k.seeds {
			run := Curve{T: k.most / n, N: n, Seed: int64(seed), Best: make([]float64, k.most/n+1)}
			gap, from := common[seed]*k.start(r, n), 0
			for t := 1; t <= run.T; t *= 2 {
				if t > 1 {
					gap *= k.factor(r, math.Exp(k.at(t, n)-k.at(t/2, n)))
				}
				for ; from < t; from++ {
					run.Best[from] = run.Best[max(from-1, 0)]
				}
				run.Best[t], from = 1-gap, t+1
				if t == 1 {
					run.Best[0] = run.Best[1]
				}
			}
			runs = append(runs, run)
		}
	}
	return runs
}

func (k known) at(t, n int) float64 {
	x, y := math.Log(float64(t)), math.Log(float64(n))
	return k.b0 + k.a*x + k.b*y + k.c*x*y
}

// start returns the gap after one generation of n children.
func (k known) start(r *rand.Rand, n int) float64 {
	return math.Exp(k.b0) * k.factor(r, math.Exp(k.at(1, n)-k.b0))
}

// factor draws from a beta distribution with the given mean.
func (k known) factor(r *rand.Rand, mean float64) float64 {
	if mean >= 1 {
		return 1
	}
	return distuv.Beta{Alpha: mean * k.concentration, Beta: (1 - mean) * k.concentration, Src: r}.Rand()
}

// A coverage is the share of draws whose intervals hold the truth.
type coverage struct {
	c, depth float64
	naive    float64 // of c, by the standard error of the fit, which takes cells for independent
}

// coverage draws surfaces and takes their intervals, with the given number of samples each.
func (k known) coverage(t *testing.T, by Resampling, draws, samples int) (got coverage) {
	t.Helper()
	truth := Surface{B0: k.b0, A: k.a, B: k.b, C: k.c}
	best := truth.Split(float64(k.most), 0.1)
	one := 1 / float64(draws)
	for i := range draws {
		grid, err := NewGrid(k.runs(stream.New(uint64(i), "coverage", 0)), GridConfig{MinCalls: 8})
		if err != nil {
			t.Fatal(err)
		}
		in, err := grid.Intervals(Bootstrap{Samples: samples, Seed: uint64(i)}, by, float64(k.most))
		if err != nil {
			t.Fatal(err)
		}
		s, err := grid.Surface()
		if err != nil {
			t.Fatal(err)
		}
		if in.C.Contains(k.c) {
			got.c += one
		}
		if in.Splits[0].T.Contains(best.T) {
			got.depth += one
		}
		if math.Abs(s.C-k.c) <= 1.96*s.Fit.SE[3] {
			got.naive += one
		}
	}
	return got
}

// surfaces are those that coverage is measured on.
var surfaces = []struct {
	known
	by          Resampling
	least, most float64 // share of the draws to cover
}{
	{known{"ten seeds", -0.1, -0.25, -0.22, -0.03, 512, 10, 10, 0}, BySearch, 0.93, 0.97},
	{known{"five seeds", -0.1, -0.25, -0.22, -0.03, 512, 5, 10, 0}, BySearch, 0.93, 0.97},
	{known{"a strong product", -0.1, -0.2783, -0.1827, -0.0461, 512, 10, 10, 0}, BySearch, 0.93, 0.97},
	{known{"a weak product, less noise", -0.1, -0.1043, -0.045, -0.0179, 512, 10, 30, 0}, BySearch, 0.93, 0.97},
	{known{"much noise", -0.1, -0.25, -0.22, -0.03, 512, 10, 3, 0}, BySearch, 0.93, 0.97},
	{known{"three seeds", -0.1, -0.25, -0.22, -0.03, 512, 3, 10, 0}, BySearch, 0.91, 0.97},
	{known{"seeds that decide the landscape", -0.5, -0.25, -0.22, -0.03, 512, 20, 10, 0.2}, BySeed, 0.93, 0.97},
	{known{"five such seeds", -0.5, -0.25, -0.22, -0.03, 512, 5, 10, 0.2}, BySeed, 0.89, 0.97},
	{known{"such seeds, drawn by search", -0.5, -0.25, -0.22, -0.03, 512, 20, 10, 0.2}, BySearch, 0.93, 0.99},
}

// Of 1000 surfaces 95 % intervals cover in 93 to 97 %, but for very few seeds, and for seeds that share luck
// and are drawn by search: there they cover more. Of fewer surfaces the bounds are 2.5
// standard deviations wider. The seeds are fixed. The normal run has a surface for each way of drawing.
func TestCoverage(t *testing.T) {
	for _, s := range notrun.Few(surfaces, 0, 6, 8) {
		low, high := s.least, s.most
		if *coverageDraws < 1000 {
			off := 2.5 * math.Sqrt(0.95*0.05/float64(*coverageDraws))
			low, high = low-off, high+off
		}
		got := s.coverage(t, s.by, *coverageDraws, *coverageSamples)
		t.Logf("%s: c %.3f, best depth %.3f, c by the fit's standard error %.3f", s.why, got.c, got.depth, got.naive)
		if min(got.c, got.depth) < low || max(got.c, got.depth) > high {
			t.Errorf("%s: intervals of c cover %.3f, of the best depth %.3f: want %.3f to %.3f", s.why, got.c, got.depth, low,
				high)
		}
	}
}
