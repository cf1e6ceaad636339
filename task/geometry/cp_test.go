package geometry_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/task/geometry"
)

// A packing in the form of the object that a program returns.
type packing struct {
	Centers [][]float64 `json:"centers"`
	Radii   []float64   `json:"radii"`
}

// grid is 25 circles of radius 1/10 in rows of five, and one in the gap between four of them.
func grid() packing {
	var p packing
	for i := range 25 {
		p.Centers = append(p.Centers, []float64{0.1 + 0.2*float64(i%5), 0.1 + 0.2*float64(i/5)})
		p.Radii = append(p.Radii, 0.1)
	}
	p.Centers = append(p.Centers, []float64{0.2, 0.2})
	p.Radii = append(p.Radii, 0.1*(math.Sqrt2-1))
	return p
}

const (
	cpBest    = 2.635984
	gridSum   = 2.5 + 0.1*(math.Sqrt2-1)
	gridScore = gridSum / cpBest
)

func TestCirclePackingForms(t *testing.T) {
	g := grid()
	var triples [][]float64
	for i, c := range g.Centers {
		triples = append(triples, []float64{c[0], c[1], g.Radii[i]})
	}
	p := geometry.CirclePacking()
	for _, c := range []struct {
		why    string
		output any
	}{
		{"object", g},
		{"object with more in it", map[string]any{"centers": g.Centers, "radii": g.Radii, "sum": nil}},
		{"pair", []any{g.Centers, g.Radii}},
		{"pair and its sum", []any{g.Centers, g.Radii, 1e9}},
		{"triples", triples},
	} {
		t.Run(c.why, func(t *testing.T) {
			near(t, "the score", valid(t, p, encode(t, c.output)), gridScore, 1e-15)
		})
	}
	r := p.Score([]byte(encode(t, g)))
	near(t, "sum_radii", r.Metrics["sum_radii"], gridSum, 1e-14)
}

func TestCirclePackingRefuses(t *testing.T) {
	p := geometry.CirclePacking()
	with := func(change func(*packing)) string {
		g := grid()
		change(&g)
		return encode(t, g)
	}
	for _, c := range []struct{ why, output, want string }{
		{"nothing", ``, "want an object with centers and radii"},
		{"null", `null`, "want an object with centers and radii"},
		{"a number", `2.635`, "want an object with centers and radii"},
		{"an empty list", `[]`, "a list of 0"},
		{"an empty object", `{}`, "centers: want a list"},
		{"other names", strings.Replace(encode(t, grid()), `"centers"`, `"Centers"`, 1), "centers: want a list"},
		{"no radii", `[` + encode(t, grid().Centers) + `,null]`, "radii: want a list"},
		{"a sum that is no number", encode(t, []any{grid().Centers, grid().Radii, "3"}), "after centers and radii"},
		{"a sum that smuggles in a list", encode(t, []any{grid().Centers, grid().Radii, []int{1}}),
			"after centers and radii"},
		{"27 circles", with(func(g *packing) { g.Centers, g.Radii = append(g.Centers, g.Centers[0]), append(g.Radii, 0) }),
			"27 rows"},
		{"25 radii", with(func(g *packing) { g.Radii = g.Radii[1:] }), "25 numbers"},
		{"25 centers", with(func(g *packing) { g.Centers = g.Centers[1:] }), "25 rows"},
		{"negative radius", with(func(g *packing) { g.Radii[3] = -1e-300 }), "circle 3 has radius -1e-300"},
		{"outside, left", with(func(g *packing) { g.Centers[0][0] -= 1.1e-6 }), "circle 0, at"},
		{"outside, right", with(func(g *packing) { g.Centers[4][0] += 1.1e-6 }), "circle 4, at"},
		{"outside, below", with(func(g *packing) { g.Centers[1][1] -= 1.1e-6 }), "circle 1, at"},
		{"outside, above", with(func(g *packing) { g.Centers[24][1] += 1.1e-6 }), "circle 24, at"},
		{"larger than the square", with(func(g *packing) { g.Radii[7] = 1e308 }), "circle 7, at"},
		{"far away", with(func(g *packing) { g.Centers[7] = []float64{1e308, -1e308}; g.Radii[7] = 1e308 }), "circle 7, at"},
		{"a point far away", with(func(g *packing) { g.Centers[7] = []float64{2, 2}; g.Radii[7] = 0 }), "circle 7, at"},
		{"overlap of two", with(func(g *packing) { g.Radii[25] += 1.1e-6 }), "circles 0 and 25 overlap"},
		{"one in another", with(func(g *packing) { g.Centers[25] = []float64{0.1, 0.1} }), "circles 0 and 25 overlap"},
	} {
		t.Run(c.why, func(t *testing.T) { invalid(t, p, c.output, c.want) })
	}
}

func TestCirclePackingTolerance(t *testing.T) {
	p := geometry.CirclePacking()
	g := grid()
	g.Centers[0][0] -= 0.9e-6 // over the edge, and away from the circle in the gap
	g.Radii[25] += 0.9e-6 - 1e-9
	near(t, "within the tolerance, the score", valid(t, p, encode(t, g)), gridScore-25*0.9e-6/cpBest, 1e-8)
	r := p.Score([]byte(encode(t, g)))
	near(t, "the sum that is scored", r.Metrics["sum_radii"], r.Score*cpBest, 1e-15)
	near(t, "the worst violation", r.Metrics["worst_violation"], 0.9e-6, 1e-15)
	near(t, "the score by the papers' rule", r.Metrics["paper_score"], (gridSum+0.9e-6-1e-9)/2.635, 1e-12)
	g = grid()
	for i := range g.Radii {
		g.Radii[i] = 0
	}
	near(t, "of points, the score", valid(t, p, encode(t, g)), 0, 0)
}

// TestCirclePackingInvariance turns, mirrors and reorders random packings.
func TestCirclePackingInvariance(t *testing.T) {
	p := geometry.CirclePacking()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 0))
		g := randomPacking(rng)
		want := valid(t, p, encode(t, g))
		turned := packing{Radii: g.Radii}
		for _, c := range g.Centers {
			turned.Centers = append(turned.Centers, []float64{1 - c[1], c[0]})
		}
		near(t, fmt.Sprintf("seed %d: turned, the score", seed), valid(t, p, encode(t, turned)), want, 0)
		var mixed packing
		for _, i := range rng.Perm(26) {
			mixed.Centers, mixed.Radii = append(mixed.Centers, g.Centers[i]), append(mixed.Radii, g.Radii[i])
		}
		near(t, fmt.Sprintf("seed %d: reordered, the score", seed), valid(t, p, encode(t, mixed)), want, 1e-15)
		i := rng.IntN(26)
		g.Radii = slices.Clone(g.Radii)
		g.Radii[i] += 3e-6
		invalid(t, p, encode(t, g), "")
	}
}

// randomPacking grows circles at random places, one after the other, until each touches something.
func randomPacking(rng *rand.Rand) packing {
	var p packing
	for len(p.Radii) < 26 {
		x, y := rng.Float64(), rng.Float64()
		r := min(x, y, 1-x, 1-y)
		for i, c := range p.Centers {
			r = min(r, math.Hypot(x-c[0], y-c[1])-p.Radii[i])
		}
		if r > 0 {
			p.Centers, p.Radii = append(p.Centers, []float64{x, y}), append(p.Radii, r)
		}
	}
	return p
}
