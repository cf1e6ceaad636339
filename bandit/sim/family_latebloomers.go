package sim

import "math"

// LateBloomers is arms of two kinds. Most rise at once and saturate low, at A uniform in 0.45 to 0.65, as A −
// (A − 0.2)·exp(−s/τ) with s the number of the child and τ in 5 to 20. The others hardly move at first and
// end high: on a logistic curve in log s from 0.2 to A in 0.75 to 1, half-way at child number 40 to 250,
// log-uniformly. A child's score is normal about the curve with deviation 0.01, and cannot pass A. All arms
// start from 0.2.
type LateBloomers struct {
	Share float64 // the chance that an arm blooms late; 0 means 0.3
}

var _ Stepper = LateBloomers{}

// Search implements [Stepper]. It panics if a parameter is negative or above 1.
func (f LateBloomers) Search(a Address) Search {
	r := a.random(f)
	late := r.Float64() < or(f, "Share", f.Share, 0.3, 1)
	ceiling, middle, tau := between(r, 0.45, 0.65), scale(r, 40, 250), between(r, 5, 20)
	if late {
		ceiling = between(r, 0.75, 1)
	}
	return newFormula(0.2, func(s int, best float64) float64 {
		rise := 1 - math.Exp(-float64(s)/tau)
		if late {
			q := middle / float64(s)
			rise = 1 / (1 + q*q*q)
		}
		return min(0.2+(ceiling-0.2)*rise+0.01*r.NormFloat64(), ceiling)
	})
}

// Arm implements [Family]. It panics where Search does.
func (f LateBloomers) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name, without the parameter.
func (f LateBloomers) String() string { return "late-bloomers" }
