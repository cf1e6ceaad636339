package sim

// NearTop is arms that come near the ceiling, 1, and stop at different places below it. Each child improves with
// chance q, log-uniform in 0.03 to 0.3 per arm, and closes an exponential share, 0.1 on average, of the gap to the
// arm's own top, which is 1 − 0.1·u² with u uniform in 0 to 1. All arms start from 0.4.
type NearTop struct{}

var _ Stepper = NearTop{}

// Search implements [Stepper].
func (f NearTop) Search(a Address) Search {
	r := a.random(f)
	u, rate := r.Float64(), scale(r, 0.03, 0.3)
	top := 1 - 0.1*u*u
	return newFormula(0.4, func(s int, best float64) float64 {
		if r.Float64() >= rate {
			return 0
		}
		return best + (top-best)*min(1, 0.1*r.ExpFloat64())
	})
}

// Arm implements [Family].
func (f NearTop) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name.
func (f NearTop) String() string { return "near-top" }
