package tune

import (
	"math"
	"math/rand/v2"
)

// A Method looks for a point with a low cost in n dimensions, from the point 0. A step of length 1 along an axis is a
// large one, and most gains lie within a few.
type Method interface {
	// Minimize asks cost for batches of points until it reports that there may be no more, or has nothing left to try. The
	// points of a batch are scored at once. A cost is +Inf for a point that is not allowed, and is never NaN. All that is
	// random is drawn from r. The points must not depend on anything else.
	Minimize(n int, r *rand.Rand, cost func(points [][]float64) (costs []float64, more bool))
}

// gauss returns a point from around another.
func gauss(around []float64, step float64, r *rand.Rand) []float64 {
	p := make([]float64, len(around))
	for i, x := range around {
		p[i] = x + step*r.NormFloat64()
	}
	return p
}

// firstSteps are the steps that first tries, three points each.
var firstSteps = [...]float64{3, 1, 0.3, 0.1, 0.03, 0.01}

// first returns where to begin and with which step. Nobody knows how wrong the numbers of a program are, and a step
// that is ten times too long or too short costs more than these 18 points.
func first(step float64, n int, r *rand.Rand, cost func([][]float64) ([]float64, bool)) (from []float64, found float64,
	more bool) {
	from = make([]float64, n)
	if step > 0 {
		return from, step, true
	}
	points := [][]float64{from}
	for _, s := range firstSteps {
		for range 3 {
			points = append(points, gauss(from, s, r))
		}
	}
	costs, more := cost(points)
	if !more {
		return from, 0, false
	}
	best, lowest := len(points)-1, math.Inf(1) // of points that are all worse than the start: the shortest step
	for i := range points {
		if costs[i] < costs[0] && costs[i] < lowest {
			best, lowest = i, costs[i]
		}
	}
	if !math.IsInf(lowest, 1) {
		from = points[best]
	}
	return from, firstSteps[(best-1)/3], true
}
