package sim

// Plateaus is arms of which a share stops for ever. Before that all are alike: each child improves with
// chance 0.08·exp(0.4·z), z standard normal per arm, and closes an exponential share, 0.03 on average, of the
// gap to 1. A stopping arm makes its last improvement before child number 4 to 400, log-uniformly. All arms
// start from 0.3.
type Plateaus struct {
	Share float64 // the chance that an arm is a stopping one; 0 means 0.7
}

var _ Stepper = Plateaus{}

// Search implements [Stepper]. It panics if a parameter is negative or above 1.
func (f Plateaus) Search(a Address) Search {
	r := a.random(f)
	stops := r.Float64() < or(f, "Share", f.Share, 0.7, 1)
	last := int(scale(r, 4, 400))
	rate := 0.08 * logNormal(r, 0.4)
	return newFormula(0.3, func(s int, best float64) float64 {
		if stops && s >= last || r.Float64() >= rate {
			return 0
		}
		return best + (1-best)*min(1, 0.03*r.ExpFloat64())
	})
}

// Arm implements [Family]. It panics where Search does.
func (f Plateaus) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name, without the parameter.
func (f Plateaus) String() string { return "plateaus" }
