package sim

import "math"

// LateJumps is arms that hardly move until one large jump, which comes late and suddenly. Before and after it each
// child improves with chance 0.02 and closes an exponential share, 0.01 on average, of the gap to 1. Half of the
// arms jump, at a child whose number is log-uniform in 30 to 3000, by the share uniform in 0.3 to 0.7 of the gap
// to 1. All arms start from 0.2.
type LateJumps struct{}

var _ Stepper = LateJumps{}

// Search implements [Stepper].
func (f LateJumps) Search(a Address) Search {
	r := a.random(f)
	at := math.MaxInt
	if r.Float64() < 0.5 {
		at = int(scale(r, 30, 3000))
	}
	jump := between(r, 0.3, 0.7)
	return newFormula(0.2, func(s int, best float64) float64 {
		switch {
		case s == at:
			return best + (1-best)*jump
		case r.Float64() < 0.02:
			return best + (1-best)*min(1, 0.01*r.ExpFloat64())
		}
		return 0
	})
}

// Arm implements [Family].
func (f LateJumps) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name.
func (f LateJumps) String() string { return "late-jumps" }
