package sim

import "math"

// Crossing is arms whose curves cross: the faster an arm, the lower it ends. After s children an arm is at A·(1 −
// exp(−s/τ)), with τ log-uniform in 10 to 1000 per arm and A = 0.2 + 0.25·log₁₀(τ/10) + 0.3·u with u uniform in 0
// to 1. A child's score is normal about that with deviation 0.01. All arms start from 0.
type Crossing struct{}

var _ Stepper = Crossing{}

// Search implements [Stepper].
func (f Crossing) Search(a Address) Search {
	r := a.random(f)
	tau := scale(r, 10, 1000)
	top := 0.2 + 0.25*math.Log10(tau/10) + 0.3*r.Float64()
	return newFormula(0, func(s int, best float64) float64 {
		return top*(1-math.Exp(-float64(s)/tau)) + 0.01*r.NormFloat64()
	})
}

// Arm implements [Family].
func (f Crossing) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name.
func (f Crossing) String() string { return "crossing" }
