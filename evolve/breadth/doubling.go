package breadth

import (
	"cmp"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/evolve"
)

// Doubling makes a step wider after one without a better child, and narrower after one with. It begins with Min
// children. After a step of n it makes
//
//	⌈n·Up⌉    if none of the n was better than the best when that step began,
//	⌊n/Down⌋  if one was,
//
// within Min..Max. While gains are frequent, a step has about one child, and none of them is wasted. While they
// are rare, it soon has Max, at the price of one child wasted for each that was needed: the widths 1, 2, 4, ... add up
// to twice the last.
//
// It reads the last step alone. If the budget had no room for all of that step's children, n is what was made.
// The zero value is a good one to begin with, and [Adaptive] is the same idea with an estimate in place of the last
// step.
type Doubling struct {
	Up   float64 // factor after a step without gain, more than 1; 0 means 2
	Down float64 // divisor after a step with gain, at least 1; 0 means 4
	Min  int     // least number of children; 0 means 1
	Max  int     // largest number of children, at most evolve.MaxN; 0 means evolve.DefaultN, or Min if that is more
}

var _ evolve.Breadth = Doubling{}

func (d Doubling) withDefaults() Doubling {
	d.Up, d.Down = cmp.Or(d.Up, 2), cmp.Or(d.Down, 4)
	d.Min, d.Max = rangeOf(d.Min, d.Max)
	return d
}

// Validate reports a field that is wrong.
func (d Doubling) Validate() error {
	d = d.withDefaults()
	switch {
	case !(d.Up > 1) || math.IsInf(d.Up, 0):
		return fmt.Errorf("breadth: Doubling.Up is %v: need 0 for 2, or more than 1", d.Up)
	case !(d.Down >= 1) || math.IsInf(d.Down, 0):
		return fmt.Errorf("breadth: Doubling.Down is %v: need 0 for 4, or at least 1", d.Down)
	}
	return validRange("Doubling", d.Min, d.Max)
}

// Children returns the number of children for the step after past.
func (d Doubling) Children(past []evolve.Made) int {
	d = d.withDefaults()
	if len(past) == 0 {
		return d.Min
	}
	last := past[len(past)-1]
	n := math.Ceil(float64(last.Children) * d.Up)
	if last.Better > 0 {
		n = math.Floor(float64(last.Children) / d.Down)
	}
	return within(int(min(n, evolve.MaxN)), d.Min, d.Max)
}

// String returns "Doubling(up=2, down=4, 1..64)" with the numbers in force.
func (d Doubling) String() string {
	d = d.withDefaults()
	return fmt.Sprintf("Doubling(up=%v, down=%v, %d..%d)", d.Up, d.Down, d.Min, d.Max)
}
