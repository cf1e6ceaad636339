package geometry

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
)

const (
	cpCircles = 26
	// cpBest is the largest known sum of radii, 2.6359830849, rounded up, so that no known packing scores above 1. Larger
	// reported sums use a tolerance.
	cpBest = 2.635984
	// cpPaper is the papers' divisor of the sum: AlphaEvolve's result, rounded down.
	cpPaper = 2.635
)

// CirclePacking is to pack 26 circles, which need not be of one size, into the unit square so that the
// sum of their radii is as large as possible. The score is that sum / 2.635984.
//
// A program returns centers and radii: an object with members centers, 26 pairs (x, y), and radii, 26
// numbers; a list of these two, which a third, number, may follow that is ignored; or a list of 26
// triples (x, y, radius). It is invalid if a radius is negative, a circle reaches more than 1e-6 over
// an edge of the square, or the centers of two are more than 1e-6 closer than the sum of their radii.
// What breaks these by less is scored with every radius shrunk by the worst that any is broken by, and no
// radius below 0: that is a packing, so a tolerance never pays.
//
// The metrics are sum_radii, the sum that is scored; worst_violation, by how much the radii were shrunk; and
// paper_score, the score by the rule of the papers: the sum as it was returned / 2.635, to the last bit as NumPy adds.
// If radii were shrunk by more than rounding explains, 1e-12, exact_paper_score is sum_radii / 2.635: what is left of
// paper_score without the tolerance.
func CirclePacking() Problem {
	return Problem{
		Key:   "cp",
		Title: "circle packing, 26 circles in the unit square",
		Entry: "pack",
		System: "You improve a program that packs 26 circles into the unit square [0, 1] x [0, 1]. The circles may " +
			"have different radii; they must lie inside the square and must not overlap. The goal is the largest " +
			"sum of the 26 radii; the best known is about 2.635984, and the score is the sum divided by that. " +
			"Good packings are not regular: think about how the radii should vary and how circles fit the " +
			"corners and edges, or search for the positions numerically.\n\n" +
			"The program defines a function pack without parameters. It returns the centers, 26 pairs [x, y], and " +
			"the radii, 26 numbers in the same order: as an object with the members centers and radii where the " +
			"language has such objects, or as the pair (centers, radii). A circle that reaches over the border or into " +
			"another one by more than 1e-6, or a negative radius, makes the packing invalid; one that does so by less " +
			"makes all radii shrink by that much. So compute radii so that the constraints hold for certain.",
		Score:   scoreCircles,
		Initial: initial("cp"),
	}
}

type circle struct {
	point
	r float64
}

func scoreCircles(data json.RawMessage) eval.Result {
	circles, err := decodeCircles(data)
	if err != nil {
		return eval.Invalid("pack returned no packing: %v", err)
	}
	worst, err := violation(circles)
	if err != nil {
		return eval.Invalid("not a packing: %v", err)
	}
	sum, radii := 0.0, make([]float64, len(circles))
	for i, c := range circles {
		radii[i] = c.r
		// Each constraint involves one or two radii, so shrinking all by worst repairs it. A circle of radius 0 fits into a
		// corner, wherever it lies.
		sum += max(0, c.r-worst)
	}
	return eval.Result{Valid: true, Score: sum / cpBest, Metrics: withExact(map[string]float64{
		"sum_radii": sum, "worst_violation": worst, "paper_score": numpySum(radii) / cpPaper,
	}, sum/cpPaper)}
}

// violation returns the largest violation of the packing's constraints, 0 for a packing, and an error if it exceeds the
// tolerance.
func violation(circles []circle) (worst float64, err error) {
	for i, c := range circles {
		if c.r < 0 {
			return 0, fmt.Errorf("circle %d has radius %g", i, c.r)
		}
		over := max(c.r-c.x, c.x+c.r-1, c.r-c.y, c.y+c.r-1)
		if over > tolerance {
			return 0, fmt.Errorf("circle %d, at (%g, %g) with radius %g, is not inside the unit square", i, c.x, c.y, c.r)
		}
		worst = max(worst, over)
	}
	for i, c := range circles {
		for j, d := range circles[:i] {
			dist := distance(c.point, d.point)
			over := c.r + d.r - dist
			if over > tolerance {
				return 0, fmt.Errorf("circles %d and %d overlap: their centers are %g apart and their radii sum to %g",
					j, i, dist, c.r+d.r)
			}
			worst = max(worst, over)
		}
	}
	return worst, nil
}

// decodeCircles reads 26 circles in any of the forms that CirclePacking describes.
func decodeCircles(data json.RawMessage) ([]circle, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) == nil && object != nil {
		return joinCircles(object["centers"], object["radii"])
	}
	var list []json.RawMessage
	if err := decode(data, &list); err != nil {
		return nil, errors.New("want an object with centers and radii, or a pair of them")
	}
	switch len(list) {
	case 2, 3:
		if len(list) == 3 {
			if _, err := decodeNumbers(json.RawMessage("["+string(list[2])+"]"), 1); err != nil {
				return nil, fmt.Errorf("after centers and radii: %w", err)
			}
		}
		return joinCircles(list[0], list[1])
	case cpCircles:
		return decodeTriples(data)
	}
	return nil, fmt.Errorf("a list of %d: want centers and radii, or %d circles", len(list), cpCircles)
}

// joinCircles reads circles from their centers and their radii.
func joinCircles(centers, radii json.RawMessage) ([]circle, error) {
	points, err := decodePoints(centers, cpCircles)
	if err != nil {
		return nil, fmt.Errorf("centers: %w", err)
	}
	rs, err := decodeNumbers(radii, cpCircles)
	if err != nil {
		return nil, fmt.Errorf("radii: %w", err)
	}
	circles := make([]circle, cpCircles)
	for i, p := range points {
		circles[i] = circle{p, rs[i]}
	}
	return circles, nil
}

// decodeTriples reads circles from a list of (x, y, radius).
func decodeTriples(data json.RawMessage) ([]circle, error) {
	rows, err := decodeRows(data, cpCircles, 3)
	if err != nil {
		return nil, err
	}
	circles := make([]circle, len(rows))
	for i, row := range rows {
		circles[i] = circle{point{row[0], row[1]}, row[2]}
	}
	return circles, nil
}
