package landscape

import (
	"math"
	"math/rand/v2"
)

// points has ten points in the unit square, one a line. The score is the least distance between two of them, as a
// share of the largest possible, 0.421279543983903 (C. de Groot, R. Peikert and D. Würtz, "The Optimal Packing of Ten
// Equal Circles in a Square", 1990). It is smooth but for kinks.
func points(r *rand.Rand) landscape {
	const n, largest = 10, 0.421279543983903
	initial := make(sheet, n)
	for i := range initial {
		initial[i] = []string{number(r.Float64()), number(r.Float64())}
	}
	score := func(s sheet) float64 { return leastDistance(s) / largest }
	return landscape{initial: initial, model: able(0), judge: scored(score)}
}

// few is points with a model that has four replies to a prompt. A search that asks the same prompt again gets nothing
// new, so what counts is how many different prompts it asks.
func few(r *rand.Rand) landscape {
	l := points(r)
	l.model.Few = 4
	return l
}

// leastDistance returns that between two of the points.
func leastDistance(s sheet) float64 {
	least := math.Inf(1)
	at := make([][]float64, len(s))
	for i, line := range s {
		at[i] = numbers(line)
		for _, b := range at[:i] {
			least = min(least, math.Hypot(at[i][0]-b[0], at[i][1]-b[1]))
		}
	}
	return least
}
