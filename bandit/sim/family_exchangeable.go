package sim

// Exchangeable is arms that do not differ. Each child improves with chance 0.05 and closes an exponential share, 0.01
// on average, of the gap to 1. Whatever is given to a second arm is lost to the first. All arms start from 0.2.
type Exchangeable struct{}

var _ Stepper = Exchangeable{}

// Search implements [Stepper].
func (f Exchangeable) Search(a Address) Search {
	r := a.random(f)
	return newFormula(0.2, func(s int, best float64) float64 {
		if r.Float64() >= 0.05 {
			return 0
		}
		return best + (1-best)*min(1, 0.01*r.ExpFloat64())
	})
}

// Arm implements [Family].
func (f Exchangeable) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name.
func (f Exchangeable) String() string { return "exchangeable" }
