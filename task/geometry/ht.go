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
// unless y ≥ −1e-6, y ≤ √3·x + 1e-6 and y ≤ √3·(1−x) + 1e-6.
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
			"that is outside the triangle by more than 1e-6 makes the placement invalid.",
		Score:   scoreTriangles,
		Initial: initial("ht"),
	}
}

func scoreTriangles(data json.RawMessage) eval.Result {
	points, err := decodePoints(data, htPoints)
	if err != nil {
		return eval.Invalid("place returned no points: %v", err)
	}
	for i, p := range points {
		if !insideTriangle(p) {
			return eval.Invalid("point %d, (%g, %g), is not inside the triangle", i, p.x, p.y)
		}
	}
	ratio := smallestTriangle(points) / (math.Sqrt(3) / 4)
	return eval.Result{
		Valid:   true,
		Score:   ratio / htBest,
		Metrics: map[string]float64{"min_area_ratio": ratio},
	}
}

// insideTriangle reports whether p is in the triangle with the vertices (0, 0), (1, 0) and (1/2, √3/2).
func insideTriangle(p point) bool {
	s := math.Sqrt(3)
	return p.y >= -tolerance && p.y <= product(s, p.x)+tolerance && p.y <= product(s, 1-p.x)+tolerance
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
