package sim

import "math"

// PowerLaw is arms that saturate, at ceilings of their own, as a power of the number s of children:
//
//	A − (A − 0.3)·(1 + s/τ)^(−b)
//
// with A uniform in 0.6 to 0.98, b in 0.2 to 0.8 and τ log-uniform in 2 to 40 per arm. A child's score is
// normal about that, and cannot pass A. All arms start from 0.3.
type PowerLaw struct {
	Noise float64 // the standard deviation of a child's score; 0 means 0.01
}

var _ Stepper = PowerLaw{}

// Search implements [Stepper]. It panics if a parameter is negative.
func (f PowerLaw) Search(a Address) Search {
	r := a.random(f)
	ceiling, b, tau := between(r, 0.6, 0.98), between(r, 0.2, 0.8), scale(r, 2, 40)
	noise := or(f, "Noise", f.Noise, 0.01, math.Inf(1))
	return newFormula(0.3, func(s int, best float64) float64 {
		mean := ceiling - (ceiling-0.3)*math.Pow(1+float64(s)/tau, -b)
		return min(mean+noise*r.NormFloat64(), ceiling)
	})
}

// Arm implements [Family]. It panics where Search does.
func (f PowerLaw) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name, without the parameter.
func (f PowerLaw) String() string { return "power-law" }
