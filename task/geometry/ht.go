package geometry

import (
	"encoding/json"
	"math"

	"github.com/evoalloc/evoalloc/eval"
)

const (
	htPoints = 11
	htBest   = 0.036529889880030156 // area of the smallest triangle / area of the triangle, the largest known
)

// Heilbronn is to place 11 points in the equilateral triangle with the vertices (0, 0), (1, 0) and
// (1/2, √3/2) so that the smallest of the triangles that three of them span is as large as possible.
// The score is its area / (√3/4) / 0.036529889880030156: 0 if three points lie on a line.
//
// A program returns 11 pairs (x, y). It is invalid if a point is not inside within 1e-6, that is,
// unless y ≥ −1e-6, y ≤ √3·x + 1e-6 and y ≤ √3·(1−x) + 1e-6. Points of which the worst misses one of these by v,
// less than that, are scored as what they are: points of a triangle whose sides are longer by the factor
// 1 + 4v/√3. So a tolerance never pays.
//
// The metrics are min_area_ratio, the area that is scored / (√3/4); worst_violation, which is v; and paper_score, the
// score by the rule of the papers, which do not look at v, rounded as theirs. If v is more than rounding explains,
// 1e-12, exact_paper_score is what is left of paper_score without the tolerance.
func Heilbronn() Problem {
	return Problem{
		Key:   "ht",
		Title: "Heilbronn problem, 11 points in an equilateral triangle",
		Entry: "place",
		System: "You improve a program that places 11 points in the equilateral triangle with the vertices (0, 0), (1, 0) " +
			"and (1/2, sqrt(3)/2). Every three of the points span a triangle; there are 165 of them. The goal is that " +
			"the smallest of these 165 areas is as large as possible. The score is that area divided by the area of the " +
			"large triangle and by 0.036529889880030156, so it is 1 for the best placement known; it is 0 as soon as " +
			"three points lie on a line or two coincide. Good placements put points on the border, are often symmetric, " +
			"and come from a numerical search.\n\n" +
			"The program defines a function place without parameters that returns a list of 11 pairs [x, y]. A point " +
			"that is outside the triangle by more than 1e-6 makes the placement invalid, and one " +
			"that is outside by less makes all count in a triangle that is larger by as much.",
		Score:   scoreTriangles,
		Initial: initial("ht"),
	}
}

func scoreTriangles(data json.RawMessage) eval.Result {
	points, err := decodePoints(data, htPoints)
	if err != nil {
		return eval.Invalid("place returned no points: %v", err)
	}
	worst := 0.0
	for i, p := range points {
		over := outsideTriangle(p)
		if !(over <= tolerance) {
			return eval.Invalid("point %d, (%g, %g), is not inside the triangle", i, p.x, p.y)
		}
		worst = max(worst, over)
	}
	returned := smallestTriangle(points) / (math.Sqrt(3) / 4)
	side := 1 + 4*worst/math.Sqrt(3)
	ratio := returned / product(side, side)
	return eval.Result{Valid: true, Score: ratio / htBest, Metrics: withExact(map[string]float64{
		"min_area_ratio": ratio, "worst_violation": worst, "paper_score": paperTriangle(points) / (math.Sqrt(3) / 4) / htBest,
	}, ratio/htBest)}
}

// outsideTriangle returns p's largest violation of the three inequalities of the triangle with the vertices (0, 0), (1,
// 0) and (1/2, √3/2), which is below 0 inside.
func outsideTriangle(p point) float64 {
	s := math.Sqrt(3)
	return max(-p.y, p.y-product(s, p.x), p.y-product(s, 1-p.x))
}

// paperTriangle returns the same area as smallestTriangle, by the formula of the papers' evaluators, whose last bits
// differ.
func paperTriangle(points []point) float64 {
	least := math.Inf(1)
	for i, a := range points {
		for j, b := range points[i+1:] {
			for _, c := range points[i+1+j+1:] {
				least = min(least, math.Abs(product(a.x, b.y-c.y)+product(b.x, c.y-a.y)+product(c.x, a.y-b.y))/2)
			}
		}
	}
	return least
}

// smallestTriangle returns the area of the smallest triangle with vertices among points.
func smallestTriangle(points []point) float64 {
	least := math.Inf(1)
	for i, p := range points {
		for j, q := range points[:i] {
			for _, r := range points[:j] {
				least = min(least, math.Abs(product(q.x-p.x, r.y-p.y)-product(r.x-p.x, q.y-p.y))/2)
			}
		}
	}
	return least
}
