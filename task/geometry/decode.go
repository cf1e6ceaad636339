package geometry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/eval"
)

// tolerance is the largest violation of a constraint that is forgiven.
const tolerance = 1e-6

// rounding is the largest violation of a constraint that counts as rounding and not as use of the tolerance.
const rounding = 1e-12

// withExact adds the paper_score without tolerance to metrics, if the tolerance was used.
func withExact(metrics map[string]float64, exact float64) map[string]float64 {
	if metrics["worst_violation"] > rounding {
		metrics[eval.ExactPrefix+"paper_score"] = exact
	}
	return metrics
}

// A point lies in the plane.
type point struct{ x, y float64 }

// distance returns the distance of p and q, which must be finite.
func distance(p, q point) float64 {
	dx, dy := p.x-q.x, p.y-q.y
	return math.Sqrt(product(dx, dx) + product(dy, dy))
}

// product returns a·b rounded to a float64. On some machines Go would otherwise fuse a product with an addition;
// scores must be equal on all machines.
func product(a, b float64) float64 { return float64(a * b) }

// numpySum returns the sum of 8 to 128 numbers in NumPy's order: eight parallel sums, added in pairs, and then the
// remaining numbers.
func numpySum(xs []float64) float64 {
	var s [8]float64
	whole := len(xs) / 8 * 8
	for i, x := range xs[:whole] {
		s[i%8] += x
	}
	sum := ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
	for _, x := range xs[whole:] {
		sum += x
	}
	return sum
}

// decodePoints reads n pairs of numbers.
func decodePoints(data json.RawMessage, n int) ([]point, error) {
	rows, err := decodeRows(data, n, 2)
	if err != nil {
		return nil, err
	}
	points := make([]point, n)
	for i, row := range rows {
		points[i] = point{row[0], row[1]}
	}
	return points, nil
}

// decodeRows reads n lists of width numbers each.
func decodeRows(data json.RawMessage, n, width int) ([][]float64, error) {
	var rows []json.RawMessage
	if err := decode(data, &rows); err != nil {
		return nil, fmt.Errorf("want a list of %d lists of %d numbers", n, width)
	}
	if len(rows) != n {
		return nil, fmt.Errorf("%d rows: want %d", len(rows), n)
	}
	out := make([][]float64, n)
	for i, row := range rows {
		v, err := decodeNumbers(row, width)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
		out[i] = v
	}
	return out, nil
}

// decodeNumbers reads a list of n numbers.
func decodeNumbers(data json.RawMessage, n int) ([]float64, error) {
	var numbers []*float64 // a null leaves nil, where it would leave 0 in a float64
	if err := decode(data, &numbers); err != nil {
		return nil, fmt.Errorf("want a list of %d numbers", n)
	}
	if len(numbers) != n {
		return nil, fmt.Errorf("%d numbers: want %d", len(numbers), n)
	}
	out := make([]float64, n)
	for i, p := range numbers {
		if p == nil {
			return nil, fmt.Errorf("number %d is null", i)
		}
		out[i] = *p
	}
	return out, nil
}

var errNotArray = errors.New("not a list")

// decode reads data, which must be an array, into v. It fails on a number that no float64 holds.
func decode(data json.RawMessage, v any) error {
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte{'['}) {
		return errNotArray
	}
	return json.Unmarshal(data, v)
}
