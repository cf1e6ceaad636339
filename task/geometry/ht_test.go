package geometry_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/task/geometry"
)

const htBest = 0.036529889880030156

// barycentric returns the point of the triangle with the given weights of its vertices.
func barycentric(a, b, c float64) []float64 {
	s := a + b + c
	return []float64{(b + c/2) / s, c / s * math.Sqrt(3) / 2}
}

func randomInTriangle(rng *rand.Rand) [][]float64 {
	points := make([][]float64, 11)
	for i := range points {
		points[i] = barycentric(rng.ExpFloat64(), rng.ExpFloat64(), rng.ExpFloat64())
	}
	return points
}

// smallestArea is the area of the smallest triangle, over all ordered triples and without rounding.
func smallestArea(points [][]float64) float64 {
	exact := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	minus := func(a, b float64) *big.Rat { return new(big.Rat).Sub(exact(a), exact(b)) }
	times := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
	var least *big.Rat
	for i, p := range points {
		for j, q := range points {
			for k, r := range points {
				if i == j || j == k || i == k {
					continue
				}
				// The signed areas of the three triangles with the origin, from shifted coordinates.
				area := new(big.Rat).Sub(times(minus(q[0], p[0]), minus(r[1], p[1])), times(minus(r[0], p[0]), minus(q[1], p[1])))
				if area.Abs(area); least == nil || area.Cmp(least) < 0 {
					least = area
				}
			}
		}
	}
	v, _ := least.Float64()
	return v / 2
}

// TestHeilbronnOracle compares with exact arithmetic over all triples.
func TestHeilbronnOracle(t *testing.T) {
	p := geometry.Heilbronn()
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 2))
		points := randomInTriangle(rng)
		want := smallestArea(points) / (math.Sqrt(3) / 4) / htBest
		near(t, fmt.Sprintf("seed %d: the score", seed), valid(t, p, encode(t, points)), want, 1e-12)
	}
}

// TestHeilbronnKnown scores points whose smallest triangle is known: 11 points of the parabola
// y = x² · √3/2 at x = 0, 1/10, ..., 1 lie inside, and three in a row span √3/2 · (1/10)³.
func TestHeilbronnKnown(t *testing.T) {
	var points [][]float64
	for i := range 11 {
		x := 0.25 + float64(i)/20
		points = append(points, []float64{x, math.Sqrt(3) / 4 * (1 - 4*(x-0.5)*(x-0.5))})
	}
	p := geometry.Heilbronn()
	want := math.Sqrt(3) / 8000 / (math.Sqrt(3) / 4) / htBest
	near(t, "score of an arc", valid(t, p, encode(t, points)), want, 1e-12)
	near(t, "score of equal points", valid(t, p, encode(t, make([][2]float64, 11))), 0, 0)
	points[5] = []float64{0.5, 0}
	points[6] = []float64{0.25, 0}
	points[7] = []float64{0.875, 0}
	near(t, "score of three points on a line", valid(t, p, encode(t, points)), 0, 0)
}

func TestHeilbronnRefuses(t *testing.T) {
	p := geometry.Heilbronn()
	top := math.Sqrt(3) / 2
	all := func(x, y float64) string {
		points := make([][]float64, 11)
		for i := range points {
			points[i] = []float64{x, y}
		}
		return encode(t, points)
	}
	for _, c := range []struct {
		why    string
		x, y   float64
		inside bool
	}{
		{"vertex", 0, 0, true},
		{"vertex", 1, 0, true},
		{"vertex", 0.5, top, true},
		{"middle", 0.5, top / 3, true},
		{"just below", 0.5, -0.9e-6, true},
		{"below", 0.5, -1.1e-6, false},
		{"just above", 0.5, top + 0.9e-6, true},
		{"above", 0.5, top + 1.1e-6, false},
		{"just left of the side", 0.25 - 0.9e-6/math.Sqrt(3), top / 2, true},
		{"left of the side", 0.25 - 1.1e-6/math.Sqrt(3), top / 2, false},
		{"just right of the side", 0.75 + 0.9e-6/math.Sqrt(3), top / 2, true},
		{"right of the side", 0.75 + 1.1e-6/math.Sqrt(3), top / 2, false},
		{"far left", -1e308, 0, false},
		{"far right", 1e308, 0, false},
		{"far above", 0.5, 1e308, false},
		{"far below", 0.5, -1e308, false},
		{"in the square but not in the triangle", 0.9, 0.9, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			if c.inside {
				valid(t, p, all(c.x, c.y))
			} else {
				invalid(t, p, all(c.x, c.y), "point 0, (")
			}
		})
	}
	invalid(t, p, `null`, "want a list of 11 lists of 2 numbers")
	invalid(t, p, encode(t, make([][2]float64, 12)), "12 rows: want 11")
	invalid(t, p, encode(t, make([][3]float64, 11)), "row 0: 3 numbers: want 2")
}

// TestHeilbronnInvariance applies the symmetries of the triangle and reorders.
func TestHeilbronnInvariance(t *testing.T) {
	p := geometry.Heilbronn()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 3))
		weights := make([][3]float64, 11)
		for i := range weights {
			weights[i] = [3]float64{rng.ExpFloat64(), rng.ExpFloat64(), rng.ExpFloat64()}
		}
		score := func(a, b, c int, order []int) float64 {
			var points [][]float64
			for _, i := range order {
				w := weights[i]
				points = append(points, barycentric(w[a], w[b], w[c]))
			}
			return valid(t, p, encode(t, points))
		}
		want := score(0, 1, 2, rng.Perm(11))
		near(t, fmt.Sprintf("seed %d: turned, the score", seed), score(1, 2, 0, rng.Perm(11)), want, 1e-12)
		near(t, fmt.Sprintf("seed %d: mirrored, the score", seed), score(1, 0, 2, rng.Perm(11)), want, 1e-12)
	}
}
