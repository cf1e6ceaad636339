package geometry

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
)

const (
	cpCircles = 26
	cpBest    = 2.635 // sum of radii
)

// CirclePacking is to pack 26 circles, which need not be of one size, into the unit square so that the
// sum of their radii is as large as possible. The score is that sum / 2.635.
//
// A program returns centers and radii: an object with members centers, 26 pairs (x, y), and radii, 26
// numbers; a list of these two, which a third, number, may follow that is ignored; or a list of 26
// triples (x, y, radius). It is invalid if a radius is negative, a circle reaches more than 1e-6 over
// an edge of the square, or the centers of two are more than 1e-6 closer than the sum of their radii.
func CirclePacking() Problem {
	return Problem{
		Key:   "cp",
		Title: "circle packing, 26 circles in the unit square",
		Entry: "pack",
		System: "You improve a program that packs 26 circles into the unit square [0, 1] x [0, 1]. The circles may " +
			"have different radii; they must lie inside the square and must not overlap. The goal is the largest " +
			"sum of the 26 radii; the best known is about 2.635, and the score is the sum divided by that. " +
			"Good packings are not regular: think about how the radii should vary and how circles fit the " +
			"corners and edges, or search for the positions numerically.\n\n" +
			"The program defines a function pack without parameters. It returns the centers, 26 pairs [x, y], and " +
			"the radii, 26 numbers in the same order: as an object with the members centers and radii where the " +
			"language has such objects, or as the pair (centers, radii). A circle that reaches over the border or into " +
			"another one by more than 1e-6, or a negative radius, makes the packing invalid: compute radii so that " +
			"the constraints hold for certain.",
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
	if err := checkPacking(circles); err != nil {
		return eval.Invalid("not a packing: %v", err)
	}
	sum := 0.0
	for _, c := range circles {
		sum += c.r
	}
	return eval.Result{Valid: true, Score: sum / cpBest, Metrics: map[string]float64{"sum_radii": sum}}
}

// checkPacking says what keeps circles from being a packing of the unit square.
func checkPacking(circles []circle) error {
	for i, c := range circles {
		switch {
		case c.r < 0:
			return fmt.Errorf("circle %d has radius %g", i, c.r)
		case c.x-c.r < -tolerance || c.x+c.r > 1+tolerance || c.y-c.r < -tolerance || c.y+c.r > 1+tolerance:
			return fmt.Errorf("circle %d, at (%g, %g) with radius %g, is not inside the unit square", i, c.x, c.y, c.r)
		}
	}
	for i, c := range circles {
		for j, d := range circles[:i] {
			if dist := distance(c.point, d.point); dist < c.r+d.r-tolerance {
				return fmt.Errorf("circles %d and %d overlap: their centers are %g apart and their radii sum to %g", j, i, dist, c.r+d.r)
			}
		}
	}
	return nil
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
