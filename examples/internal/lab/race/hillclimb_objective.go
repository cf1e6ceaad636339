package race

import (
	"math"
	"math/rand/v2"
)

// objective is one of the three problems of task/geometry. It is scored in Go without JSON in between, which
// is fast enough for a million candidates a second. A candidate is n points in the plane, x0, y0, x1, y1, ...
type objective struct {
	key    string
	points int
	start  func() []float64
	// sample draws a point from the whole domain, and keep brings one that was moved back into it, or
	// reports that it cannot.
	sample func(r *rand.Rand) (x, y float64)
	keep   func(x, y float64) (float64, float64, bool)
	score  func(xy []float64) float64 // as task/geometry: 1 is the best known
}

var objectives = map[string]objective{
	"cp": {
		key: "cp", points: 26, start: rings,
		sample: func(r *rand.Rand) (float64, float64) { return r.Float64(), r.Float64() },
		keep:   func(x, y float64) (float64, float64, bool) { return min(max(x, 0), 1), min(max(y, 0), 1), true },
		score:  packing,
	},
	"mmd": {
		key: "mmd", points: 16, start: cloud,
		sample: func(r *rand.Rand) (float64, float64) { return r.NormFloat64() / 2, r.NormFloat64() / 2 },
		keep:   func(x, y float64) (float64, float64, bool) { return x, y, true },
		score:  distances,
	},
	"ht": {
		key: "ht", points: 11, start: func() []float64 { return make([]float64, 22) },
		sample: inTriangle,
		keep:   func(x, y float64) (float64, float64, bool) { return x, y, insideTriangle(x, y) },
		score:  heilbronn,
	},
}

// rings returns where the paper's circle packing starts: a circle in the middle, rings of 8 and 16, clipped
// to [0.01, 0.99], and one circle left over in the corner.
func rings() []float64 {
	clip := func(v float64) float64 { return min(max(v, 0.01), 0.99) }
	xy := []float64{0.5, 0.5}
	for _, ring := range []struct {
		n      int
		radius float64
	}{{8, 0.3}, {16, 0.7}} {
		for i := range ring.n {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(ring.n))
			xy = append(xy, clip(0.5+ring.radius*cos), clip(0.5+ring.radius*sin))
		}
	}
	return append(xy, 0.01, 0.01)
}

// packing returns the sum of the radii over 2.635.
func packing(xy []float64) float64 {
	radii := largestRadii(xy)
	var sum float64
	for _, r := range radii {
		sum += r
	}
	return sum / 2.635
}

// largestRadii makes each circle as large as the border lets it be, then shrinks both of each overlapping
// pair until they touch, pair by pair in order: the rule of the paper's initial program.
func largestRadii(xy []float64) [26]float64 {
	var radii [26]float64
	for i := range radii {
		x, y := xy[2*i], xy[2*i+1]
		radii[i] = min(x, y, 1-x, 1-y)
	}
	for i := range radii {
		x, y := xy[2*i], xy[2*i+1]
		for j := i + 1; j < len(radii); j++ {
			dx, dy, both := x-xy[2*j], y-xy[2*j+1], radii[i]+radii[j]
			if square := dx*dx + dy*dy; both*both > square {
				shrink := math.Sqrt(square) / both
				radii[i] *= shrink
				radii[j] *= shrink
			}
		}
	}
	return radii
}

// cloud returns where the paper's min/max distance starts: 16 points drawn from the standard normal
// distribution.
func cloud() []float64 {
	return []float64{
		0.30471707975443135, -1.0399841062404955, 0.7504511958064572, 0.9405647163912139,
		-1.9510351886538364, -1.302179506862318, 0.12784040316728537, -0.3162425923435822,
		-0.016801157504288795, -0.85304392757358, 0.8793979748628286, 0.7777919354289483,
		0.06603069756121605, 1.1272412069680329, 0.4675093422520456, -0.8592924628832382,
		0.36875078408249884, -0.9588826008289989, 0.8784503013072725, -0.049925910986252896,
		-0.18486236354526056, -0.6809295444039414, 1.2225413386740303, -0.15452948206880215,
		-0.4283278221631072, -0.3521335504882296, 0.5323091855533487, 0.36544406436407834,
		0.4127326115959884, 0.43082100300788273, 2.1416476008704612, -0.4064150163846156,
	}
}

// distances returns 12.889266112 times the square of the smallest distance over the largest.
func distances(xy []float64) float64 {
	least, most := math.Inf(1), 0.0
	for i := 0; i < len(xy); i += 2 {
		for j := i + 2; j < len(xy); j += 2 {
			dx, dy := xy[i]-xy[j], xy[i+1]-xy[j+1]
			square := dx*dx + dy*dy
			least, most = min(least, square), max(most, square)
		}
	}
	if most == 0 {
		return 0
	}
	return least / most * 12.889266112
}

// height is that of the equilateral triangle of side 1 on the points (0, 0) and (1, 0).
const height = 0.8660254037844386

func inTriangle(r *rand.Rand) (x, y float64) {
	a, b := r.Float64(), r.Float64()
	if a+b > 1 {
		a, b = 1-a, 1-b
	}
	return a + b/2, b * height
}

func insideTriangle(x, y float64) bool {
	return y >= 0 && y <= 2*height*x && y <= 2*height*(1-x)
}

// heilbronn returns the area of the smallest triangle of three of the points, over that of the triangle that
// they are in, over 0.036529889880030156.
func heilbronn(xy []float64) float64 {
	least := math.Inf(1) // twice the area
	for i := 0; i < len(xy); i += 2 {
		for j := i + 2; j < len(xy); j += 2 {
			dx, dy := xy[j]-xy[i], xy[j+1]-xy[i+1]
			for k := j + 2; k < len(xy); k += 2 {
				least = min(least, math.Abs(dx*(xy[k+1]-xy[i+1])-dy*(xy[k]-xy[i])))
			}
		}
	}
	return least / height / 0.036529889880030156
}
