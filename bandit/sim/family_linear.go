package sim

// Linear is arms that rise by the same amount with every child, v, log-uniform in 0.0001 to 0.001 per arm, up to 1.
// All arms start from 0. No arm slows down, which no other family has.
type Linear struct{}

var _ Stepper = Linear{}

// Search implements [Stepper].
func (f Linear) Search(a Address) Search {
	v := scale(a.random(f), 0.0001, 0.001)
	return newFormula(0, func(s int, best float64) float64 { return min(v*float64(s), 1) })
}

// Arm implements [Family].
func (f Linear) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name.
func (f Linear) String() string { return "linear" }
