package geometry_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/task/geometry"
)

// square is the 16 points of a grid of four by four.
func square() [][]float64 {
	var points [][]float64
	for i := range 16 {
		points = append(points, []float64{float64(i % 4), float64(i / 4)})
	}
	return points
}

const squareScore = 12.889266112 / 18 // neighbours are 1 apart, opposite corners 3·√2

// polygon is a regular polygon with 15 vertices and its middle.
func polygon() [][]float64 {
	points := [][]float64{{0, 0}}
	for i := range 15 {
		a := 2 * math.Pi * float64(i) / 15
		points = append(points, []float64{math.Cos(a), math.Sin(a)})
	}
	return points
}

func TestMinMaxDistanceKnown(t *testing.T) {
	p := geometry.MinMaxDistance()
	near(t, "score of the grid", valid(t, p, encode(t, square())), squareScore, 1e-15)
	side, diagonal := 2*math.Sin(math.Pi/15), 2*math.Cos(math.Pi/30)
	near(t, "score of the polygon", valid(t, p, encode(t, polygon())), 12.889266112*side*side/diagonal/diagonal, 1e-14)
	r := p.Score([]byte(encode(t, square())))
	near(t, "min_max_ratio", r.Metrics["min_max_ratio"], 1/math.Sqrt(18), 1e-16)
}

func TestMinMaxDistanceRefuses(t *testing.T) {
	p := geometry.MinMaxDistance()
	twins := square()
	twins[7] = twins[3]
	for _, c := range []struct{ why, output, want string }{
		{"nothing", ``, "want a list of 16 lists of 2 numbers"},
		{"null", `null`, "want a list of 16 lists of 2 numbers"},
		{"15 points", encode(t, square()[1:]), "15 rows: want 16"},
		{"17 points", encode(t, append(square(), []float64{9, 9})), "17 rows: want 16"},
		{"an object of points", encode(t, map[string]any{"points": square()}), "want a list of 16"},
		{"two the same", encode(t, twins), "points 3 and 7 are the same"},
		{"all the same", encode(t, make([][2]float64, 16)), "points 0 and 1 are the same"},
		{"zero and negative zero", encode(t, [][]any{{0, 0}, {0, 0}})[:1] + "[0,0],[-0.0,0]," + encode(t, square()[2:])[1:],
			"points 0 and 1 are the same"},
	} {
		t.Run(c.why, func(t *testing.T) { invalid(t, p, c.output, c.want) })
	}
}

// TestMinMaxDistanceScale checks that neither very large nor very small figures overflow, lose
// digits or gain from rounding.
func TestMinMaxDistanceScale(t *testing.T) {
	p := geometry.MinMaxDistance()
	for _, c := range []struct {
		why      string
		unit, x0 float64
	}{
		{"numbers whose differences overflow", 1.1e308, 0},
		{"tiny numbers", 1e-300, 0},
		{"the smallest numbers", 1e-323, 0},
		{"whole numbers far out", 1, 1e15},
	} {
		t.Run(c.why, func(t *testing.T) {
			points := square()
			for _, q := range points {
				q[0], q[1] = (q[0]-1.5)*c.unit+c.x0, (q[1]-1.5)*c.unit+c.x0
			}
			near(t, "the score", valid(t, p, encode(t, points)), squareScore, 1e-13)
		})
	}
	far := square()
	far[0] = []float64{1e300, 0}
	near(t, "with one point far away, the score", valid(t, p, encode(t, far)), 0, 0)
	near(t, "with two points that almost coincide, the score",
		valid(t, p, encode(t, append(square()[:15], []float64{1e-200, 0}))), 0, 0)
}

// TestMinMaxDistanceInvariance moves, turns, stretches and reorders random points, and compares with
// a direct computation.
func TestMinMaxDistanceInvariance(t *testing.T) {
	p := geometry.MinMaxDistance()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		points := make([][]float64, 16)
		for i := range points {
			points[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
		}
		least, most := math.Inf(1), 0.0
		for i := range points {
			for j := range points {
				if d := math.Hypot(points[i][0]-points[j][0], points[i][1]-points[j][1]); i != j {
					least, most = min(least, d), max(most, d)
				}
			}
		}
		want := least * least / most / most * 12.889266112
		near(t, fmt.Sprintf("seed %d: the score", seed), valid(t, p, encode(t, points)), want, 1e-14)
		sin, cos := math.Sincos(rng.Float64() * 7)
		size := math.Exp(10 * rng.NormFloat64())
		var moved [][]float64
		for _, i := range rng.Perm(16) {
			x, y := points[i][0], points[i][1]
			moved = append(moved, []float64{size * (3 + cos*x - sin*y), size * (sin*x + cos*y - 5)})
		}
		near(t, fmt.Sprintf("seed %d: moved, the score", seed), valid(t, p, encode(t, moved)), want, 1e-12)
	}
}
