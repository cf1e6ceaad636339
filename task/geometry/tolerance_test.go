package geometry_test

import (
	_ "embed"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/task/geometry"
)

// bestPacking holds 26 circles whose radii sum to 2.635983084917, as good as any that is known. It was found by
// sequential quadratic programming from random places, with radii by linear programming.
//
//go:embed testdata/cp.json
var bestPacking []byte

// A packing that is known to be possible scores 1 at most, and by less than a millionth less.
func TestBestPackingScoresAtMostOne(t *testing.T) {
	score := valid(t, geometry.CirclePacking(), string(bestPacking))
	if score > 1 || score < 1-1e-6 {
		t.Errorf("score %v", score)
	}
}

// Whatever use is made of the tolerance, the best packing does not gain by it.
func TestToleranceNeverPays(t *testing.T) {
	p := geometry.CirclePacking()
	honest := valid(t, p, string(bestPacking))
	var best packing
	if err := json.Unmarshal(bestPacking, &best); err != nil {
		t.Fatal(err)
	}
	about := func(by float64) func(float64) float64 {
		return func(x float64) float64 { return 0.5 + (x-0.5)*(1+by) }
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for _, tt := range []struct {
		reason             string
		coordinate, radius func(v float64) func(float64) float64
	}{
		{"every circle larger", func(float64) func(float64) float64 { return about(0) },
			func(v float64) func(float64) float64 { return func(r float64) float64 { return r + v/2 } }},
		{"the whole packing larger, over the edges", func(v float64) func(float64) float64 { return about(v) },
			func(v float64) func(float64) float64 { return func(r float64) float64 { return r * (1 + v) } }},
		{"larger and spread", func(v float64) func(float64) float64 { return about(v) },
			func(v float64) func(float64) float64 { return func(r float64) float64 { return r + v/2 } }},
		{"at random", func(v float64) func(float64) float64 {
			return func(x float64) float64 { return x + v*(rng.Float64()-0.5)/5 }
		}, func(v float64) func(float64) float64 {
			return func(r float64) float64 { return r + v/5*(1+rng.Float64()) }
		}},
	} {
		for _, v := range []float64{1e-12, 1e-9, 1e-7, 9e-7} {
			r := p.Score([]byte(encode(t, moved(best, tt.coordinate(v), tt.radius(v)))))
			if !r.Valid {
				t.Fatalf("%s by %g: %s", tt.reason, v, r.Reason)
			}
			if r.Score > honest+1e-13 { // what rounding the best packing took
				t.Errorf("%s by %g: gains %g", tt.reason, v, r.Score-honest)
			}
			if v > 1e-9 && r.Metrics["paper_score"]*2.635 <= honest*cpBest+v/2 {
				t.Errorf("%s by %g: it gains nothing by the papers' rule either, and is no attack", tt.reason, v)
			}
		}
	}
}

// What the tolerance is worth by the papers' rule is told beside it: at 26 circles up to 1.3e-5 of the
// sum of radii. The exact figure is not above that of the packing itself.
func TestToleranceIsTold(t *testing.T) {
	p := geometry.CirclePacking()
	best := p.Score(bestPacking)
	if exact, told := best.Metrics["exact_paper_score"]; told {
		t.Errorf("the best packing is said to use the tolerance: exact_paper_score %v", exact)
	}
	var known packing
	if err := json.Unmarshal(bestPacking, &known); err != nil {
		t.Fatal(err)
	}
	same := func(x float64) float64 { return x }
	r := p.Score([]byte(encode(t, moved(known, same, func(r float64) float64 { return r + 0.499e-6 }))))
	exact, told := r.Metrics["exact_paper_score"]
	gain := (r.Metrics["paper_score"] - best.Metrics["paper_score"]) * 2.635
	if !told || gain < 1.29e-5 || exact > best.Metrics["paper_score"]+1e-12 {
		t.Errorf("paper_score %.9f, exact %.9f: the tolerance is worth %g of the sum, want 1.3e-5", r.Metrics["paper_score"],
			exact, gain)
	}
	t.Logf("sum of radii by the papers' rule %.9f, without the tolerance %.9f, of the packing itself %.9f",
		r.Metrics["paper_score"]*2.635, exact*2.635, best.Metrics["sum_radii"])
}

// moved returns p with each coordinate and each radius changed.
func moved(p packing, coordinate, radius func(float64) float64) (out packing) {
	for i, c := range p.Centers {
		out.Centers = append(out.Centers, []float64{coordinate(c[0]), coordinate(c[1])})
		out.Radii = append(out.Radii, radius(p.Radii[i]))
	}
	return out
}

// Points of a triangle that is larger by less than the tolerance score as those of the triangle itself.
func TestToleranceNeverPaysInTheTriangle(t *testing.T) {
	p := geometry.Heilbronn()
	points := randomInTriangle(rand.New(rand.NewPCG(2, 0)))
	points[0], points[1], points[2] = []float64{0, 0}, []float64{1, 0}, []float64{0.5, math.Sqrt(3) / 2}
	honest := valid(t, p, encode(t, points))
	for _, v := range []float64{1e-9, 1e-7, 9e-7} {
		larger := make([][]float64, len(points))
		for i, q := range points { // from where all three sides move out by v in y
			x, y, by := 0.5, math.Sqrt(3)/4, 1+4*v/math.Sqrt(3)
			larger[i] = []float64{x + (q[0]-x)*by, y + (q[1]-y)*by}
		}
		r := p.Score([]byte(encode(t, larger)))
		near(t, "the score", r.Score, honest, 1e-12)
		near(t, "the score by the papers' rule", r.Metrics["paper_score"], honest*(1+8*v/math.Sqrt(3)), 1e-10)
	}
}
