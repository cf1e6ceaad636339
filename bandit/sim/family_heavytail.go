package sim

import "math"

// HeavyTail is arms that improve in jumps of very different size, ever more rarely. Child number s improves
// with chance min(½, λ/(s + 4)), where λ = Rate·exp(0.7·z) per arm and z is standard normal, so jumps come
// evenly in log time. A jump closes the share min(1, 0.02·u^(−1/Tail)) of the gap to 1, u uniform: a Pareto
// law. All arms start from 0.3.
type HeavyTail struct {
	Rate float64 // 0 means 2: some ten jumps in 512 children
	Tail float64 // the exponent of the Pareto law; 0 means 1.2
}

var _ Stepper = HeavyTail{}

// Search implements [Stepper]. It panics if a parameter is negative.
func (f HeavyTail) Search(a Address) Search {
	r := a.random(f)
	rate := or(f, "Rate", f.Rate, 2, math.Inf(1)) * logNormal(r, 0.7)
	tail := or(f, "Tail", f.Tail, 1.2, math.Inf(1))
	return newFormula(0.3, func(s int, best float64) float64 {
		if r.Float64() >= min(0.5, rate/float64(s+4)) {
			return 0
		}
		share := min(1, 0.02*math.Pow(1-r.Float64(), -1/tail))
		return best + (1-best)*share
	})
}

// Arm implements [Family]. It panics where Search does.
func (f HeavyTail) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the short name, without the parameters.
func (f HeavyTail) String() string { return "heavy-tail" }
