package sim

// Staircase is arms that rise in equal steps at irregular times. Each child is a step up with chance q,
// log-uniform in 1/80 to 1/8 per arm. The height of a step is uniform in 0.02 to Tallest per arm, and the
// ceiling is uniform in 0.6 to 1. All arms start from 0.1.
type Staircase struct {
	Tallest float64 // above 0.02, at most 1; 0 means 0.08
}

var _ Stepper = Staircase{}

// Search implements [Stepper]. It panics if a parameter is negative or above 1.
func (f Staircase) Search(a Address) Search {
	r := a.random(f)
	rate, height, ceiling := scale(r, 1.0/80, 1.0/8), between(r, 0.02, or(f, "Tallest", f.Tallest, 0.08, 1)), between(r, 0.6, 1)
	return newFormula(0.1, func(s int, best float64) float64 {
		if r.Float64() >= rate {
			return 0
		}
		return min(best+height, ceiling)
	})
}

// Arm implements [Family]. It panics where Search does.
func (f Staircase) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name, without the parameter.
func (f Staircase) String() string { return "staircase" }
