package analysis

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// laws are what paired differences are drawn from, each of mean 0.
var laws = []struct {
	name string
	draw func(r *rand.Rand) float64
}{
	{"normal", func(r *rand.Rand) float64 { return r.NormFloat64() }},
	{"exponential", func(r *rand.Rand) float64 { return r.ExpFloat64() - 1 }},
	{"log-normal", func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) - math.Exp(0.5) }},
	{"rare gains", func(r *rand.Rand) float64 { // three in ten pairs gain an exponential amount
		if r.Float64() < 0.3 {
			return r.ExpFloat64() - 0.3
		}
		return -0.3
	}},
}

// How many of 200 intervals hold the true difference. The seeds are fixed, and so are the counts but for rounding.
func TestCoverageOfPairedDifferences(t *testing.T) {
	const tests = 200
	want := map[string]map[int]holding{
		"normal":      {10: {190, 176}, 30: {188, 187}},
		"exponential": {10: {189, 173}, 30: {193, 188}},
		"log-normal":  {10: {188, 164}, 30: {184, 171}},
		"rare gains":  {10: {154, 149}, 30: {195, 176}},
	}
	for _, law := range laws {
		for n, want := range notrun.FewOf(want[law.name], 10) {
			var got holding
			for i := range uint64(tests) {
				r := stream.New(uint64(n), "coverage/"+law.name, i)
				d := make([]float64, n)
				for j := range d {
					d[j] = law.draw(r)
				}
				got.count(t, Scores{d}, Scores{make([]float64, n)}, i)
			}
			if !got.near(want) {
				t.Errorf("%s, %d pairs: %+v, want %+v", law.name, n, got, want)
			}
		}
	}
}

// A holding counts intervals that hold a difference of 0.
type holding struct{ studentized, percentiles int }

func (c *holding) count(t *testing.T, x, y Scores, seed uint64) {
	t.Helper()
	b := Bootstrap{Samples: 300, Seed: seed}
	pairs, err := b.Paired(x, y)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := b.Estimate(x, Mean)
	if err != nil {
		t.Fatal(err)
	}
	c.studentized += one(pairs.Difference.Contains(0))
	c.percentiles += one(plain.Contains(0))
}

func (c holding) near(o holding) bool {
	return max(c.studentized-o.studentized, o.studentized-c.studentized, c.percentiles-o.percentiles,
		o.percentiles-c.percentiles) <= 2
}

// Of few pairs, or pairs that do not differ in how they differ, the interval is that of the percentiles.
func TestStudentizedNeedsSpread(t *testing.T) {
	for _, c := range []struct {
		reason string
		x      Scores
	}{
		{"five pairs", Scores{{1, 2, 3, 4, 5}}},
		{"a stratum of one", Scores{{1, 2, 3, 4, 5, 6}, {1}}},
		{"all alike", Scores{{2, 2, 2, 2, 2, 2}}},
		{"nearly all alike: most samples have no spread", Scores{{2, 2, 2, 2, 2, 2, 2, 3}, {1, 1}}},
	} {
		y := make(Scores, len(c.x))
		for i, stratum := range c.x {
			y[i] = make([]float64, len(stratum))
		}
		b := Bootstrap{Samples: 200}
		pairs, err := b.Paired(c.x, y)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := b.Estimate(c.x, Mean)
		if err != nil {
			t.Fatal(err)
		}
		if c.reason != "nearly all alike: most samples have no spread" && pairs.Difference != plain {
			t.Errorf("%s: %v, want %v", c.reason, pairs.Difference, plain)
		}
		if math.IsNaN(pairs.Difference.Low) || math.IsInf(pairs.Difference.High, 0) {
			t.Errorf("%s: %v", c.reason, pairs.Difference)
		}
	}
}

func one(ok bool) int {
	if ok {
		return 1
	}
	return 0
}
