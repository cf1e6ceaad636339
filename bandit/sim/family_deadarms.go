package sim

// DeadArms is arms of which 7 in 10 never rise. Each child of the others improves with chance q, log-uniform in 0.02
// to 0.2 per arm, and closes an exponential share, 0.02 on average, of the gap to 1. All arms start from 0.3.
type DeadArms struct{}

var _ Stepper = DeadArms{}

// Search implements [Stepper].
func (f DeadArms) Search(a Address) Search {
	r := a.random(f)
	dead, rate := r.Float64() < 0.7, scale(r, 0.02, 0.2)
	return newFormula(0.3, func(s int, best float64) float64 {
		if dead || r.Float64() >= rate {
			return 0
		}
		return best + (1-best)*min(1, 0.02*r.ExpFloat64())
	})
}

// Arm implements [Family].
func (f DeadArms) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name.
func (f DeadArms) String() string { return "dead-arms" }
