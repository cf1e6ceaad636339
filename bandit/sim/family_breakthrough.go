package sim

import "math"

// Breakthrough is arms that are stuck at 0 until a child breaks through. Each child does with chance q,
// log-uniform in 1/Slowest to 1/15 per arm, and scores 0.4 to 0.7. From there each child improves with chance
// 0.05, and closes an exponential share, 0.05 on average, of the gap to 1.
type Breakthrough struct {
	Slowest float64 // at least 15; 0 means 300
}

var _ Stepper = Breakthrough{}

// Search implements [Stepper]. It panics if a parameter is negative.
func (f Breakthrough) Search(a Address) Search {
	r := a.random(f)
	rate := scale(r, 1/or(f, "Slowest", f.Slowest, 300, math.Inf(1)), 1.0/15)
	return newFormula(0, func(s int, best float64) float64 {
		switch {
		case best == 0 && r.Float64() < rate:
			return between(r, 0.4, 0.7)
		case best > 0 && r.Float64() < 0.05:
			return best + (1-best)*min(1, 0.05*r.ExpFloat64())
		}
		return 0
	})
}

// Arm implements [Family]. It panics where Search does.
func (f Breakthrough) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name, without the parameter.
func (f Breakthrough) String() string { return "breakthrough" }
