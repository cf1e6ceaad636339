package sim

import (
	"fmt"
	"math"
)

// Scaled is another family's arms on another scale: Shift + Factor·score. A policy that is told of scores on any
// scale must do on it as on the other's.
type Scaled struct {
	Stepper
	Factor float64 // above 0
	Shift  float64 // added to each score
}

var _ Stepper = Scaled{}

// Search implements [Stepper]. It panics if the factor is not positive, or one of the numbers not finite.
func (f Scaled) Search(a Address) Search {
	if !(f.Factor > 0) || math.IsInf(f.Factor, 0) {
		panic(fmt.Sprintf("sim: Factor of %v is %v: need a positive number", f, f.Factor))
	}
	if math.IsNaN(f.Shift) || math.IsInf(f.Shift, 0) {
		panic(fmt.Sprintf("sim: Shift of %v is %v: need a finite number", f, f.Shift))
	}
	return &scaled{f.Stepper.Search(a), f}
}

// of returns a score of the other family on this scale.
func (f Scaled) of(score float64) float64 { return f.Shift + f.Factor*score }

// Arm implements [Family]. It panics where Search does.
func (f Scaled) Arm(a Address) []float64 { return trajectory(f.Search(a), a) }

// String returns the other family's name, with the scale: "draws*1e+06-3".
func (f Scaled) String() string { return fmt.Sprintf("%v*%v%+v", f.Stepper, f.Factor, f.Shift) }

type scaled struct {
	Search
	to Scaled
}

// Best implements [Search].
func (s *scaled) Best() float64 { return s.to.of(s.Search.Best()) }

// Take implements [Search].
func (s *scaled) Take(c Child) float64 { return s.to.of(s.Search.Take(c)) }
