package sim

import "math"

// Draws is arms that do not learn. Every child's score is an independent draw from the arm's Gumbel
// distribution, of mode uniform in 0.3 to 0.5 and scale log-uniform in 0.01 to Widest, so the best so far
// rises as the logarithm of the number of children. The arm with the widest tail wins, not the one with the
// best mean. All arms start from 0.3.
type Draws struct {
	Widest float64 // above 0.01; 0 means 0.06
}

var _ Stepper = Draws{}

// Search implements [Stepper]. It panics if a parameter is negative.
func (f Draws) Search(a Address) Search {
	r := a.random(f)
	mode, width := between(r, 0.3, 0.5), scale(r, 0.01, or(f, "Widest", f.Widest, 0.06, math.Inf(1)))
	return newFormula(0.3, func(int, float64) float64 { return mode - width*math.Log(r.ExpFloat64()) })
}

// Arm implements [Family]. It panics where Search does.
func (f Draws) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name, without the parameter.
func (f Draws) String() string { return "draws" }
