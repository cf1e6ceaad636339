package sim

// FirstImpressions is arms whose first child is misleading. It scores anything from 0.2 to 0.2 + Spread,
// whatever the arm is worth. From there each child improves with chance q, log-uniform in 0.004 to 0.1 per
// arm, and closes an exponential share, 0.08 on average, of the gap to 1. All arms start from 0.2.
type FirstImpressions struct {
	Spread float64 // at most 0.8; 0 means 0.4
}

var _ Stepper = FirstImpressions{}

// Search implements [Stepper]. It panics if a parameter is negative or above 0.8.
func (f FirstImpressions) Search(a Address) Search {
	r := a.random(f)
	first := between(r, 0.2, 0.2+or(f, "Spread", f.Spread, 0.4, 0.8))
	rate := scale(r, 0.004, 0.1)
	return newFormula(0.2, func(s int, best float64) float64 {
		switch {
		case s == 1:
			return first
		case r.Float64() >= rate:
			return 0
		}
		return best + (1-best)*min(1, 0.08*r.ExpFloat64())
	})
}

// Arm implements [Family]. It panics where Search does.
func (f FirstImpressions) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name, without the parameter.
func (f FirstImpressions) String() string { return "first-impressions" }
