package geometry

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/eval"
)

const (
	mmdPoints = 16
	mmdBest   = float64(12.889266112) // (d_max/d_min)², the smallest known
)

// MinMaxDistance is to place 16 points in the plane so that the least distance between two of them is
// as large as possible compared with the greatest. The score is (d_min/d_max)² · 12.889266112.
//
// A program returns 16 pairs (x, y). It is invalid if two points are the same. Size and place do not
// matter.
//
// The metrics are min_max_ratio, d_min/d_max, and paper_score, the score as the papers' evaluators round it.
func MinMaxDistance() Problem {
	return Problem{
		Key:   "mmd",
		Title: "min/max distance, 16 points in the plane",
		Entry: "spread",
		System: "You improve a program that places 16 points in the plane. Of all distances between two of the points, " +
			"let dmin be the smallest and dmax the largest. The goal is the largest ratio dmin / dmax: the points keep " +
			"away from each other, yet none is far from any other. The score is (dmin / dmax)^2 times 12.889266112, " +
			"which is 1 for the best placement known. Where the points lie and how large the figure is do not matter. " +
			"Good placements are neither a square grid nor rings alone; a numerical search from a good start pays.\n\n" +
			"The program defines a function spread without parameters that returns a list of 16 pairs [x, y] of finite " +
			"numbers. No two points may be the same.",
		Score:   scoreDistances,
		Initial: initial("mmd"),
	}
}

func scoreDistances(data json.RawMessage) eval.Result {
	points, err := decodePoints(data, mmdPoints)
	if err != nil {
		return eval.Invalid("spread returned no points: %v", err)
	}
	least, most, err := distances(points)
	if err != nil {
		return eval.Invalid("%v", err)
	}
	ratio := least / most
	return eval.Result{
		Valid:   true,
		Score:   ratio * ratio * mmdBest,
		Metrics: map[string]float64{"min_max_ratio": ratio, "paper_score": ratio * ratio / (1 / mmdBest)},
	}
}

// distances returns the least and the greatest distance between two points, in units that depend on
// the points. It fails if two points are the same.
func distances(points []point) (least, most float64, err error) {
	least = math.Inf(1)
	points = normalized(points)
	for i, p := range points {
		for j, q := range points[:i] {
			if p == q {
				return 0, 0, fmt.Errorf("points %d and %d are the same", j, i)
			}
			d := distance(p, q)
			least, most = min(least, d), max(most, d)
		}
	}
	return least, most, nil
}

// normalized returns points divided by the power of two that brings their largest coordinate to
// between 1/2 and 1. That is exact; without it, differences of large coordinates could overflow, and
// distances of tiny ones would be rounded to whole multiples of the smallest number, which a program
// could turn to its advantage.
func normalized(points []point) []point {
	largest := 0.0
	for _, p := range points {
		largest = max(largest, math.Abs(p.x), math.Abs(p.y))
	}
	_, exp := math.Frexp(largest)
	out := make([]point, len(points))
	for i, p := range points {
		out[i] = point{math.Ldexp(p.x, -exp), math.Ldexp(p.y, -exp)}
	}
	return out
}
