package sim

import "math"

// ShrinkingNoise is arms whose children scatter less and less. Child number s scores normally about a slowly rising
// mean, 0.3 + q·ln(1 + s/10) with q uniform in 0.02 to 0.08 per arm, with a deviation of 0.15/√s. An early lucky
// child stays the best for long. All arms start from 0.3.
type ShrinkingNoise struct{}

var _ Stepper = ShrinkingNoise{}

// Search implements [Stepper].
func (f ShrinkingNoise) Search(a Address) Search {
	r := a.random(f)
	q := between(r, 0.02, 0.08)
	return newFormula(0.3, func(s int, best float64) float64 {
		return 0.3 + q*math.Log1p(float64(s)/10) + 0.15/math.Sqrt(float64(s))*r.NormFloat64()
	})
}

// Arm implements [Family].
func (f ShrinkingNoise) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name.
func (f ShrinkingNoise) String() string { return "shrinking-noise" }
