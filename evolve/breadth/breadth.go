// Package breadth has the ways to decide how many children each step of a search makes. docs/policies.md says
// which one to use when.
//
// Each keeps no state, so one value may serve many searches at once.
package breadth

import (
	"cmp"
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
)

// Fixed is the same number of children in each step, in 1..MaxN. Fixed(64) is the BaSE paper's.
type Fixed int

// Children returns f.
func (f Fixed) Children([]evolve.Made) int { return int(f) }

// String returns "Fixed(N)".
func (f Fixed) String() string { return fmt.Sprintf("Fixed(%d)", int(f)) }

// Validate reports a number that is out of range.
func (f Fixed) Validate() error {
	if f < 1 || f > evolve.MaxN {
		return fmt.Errorf("breadth: %v: a step needs at least 1 child, and at most %d", f, evolve.MaxN)
	}
	return nil
}

var _ evolve.Breadth = Fixed(0)

// validRange checks the Min and the Max of a Breadth, with their defaults filled in.
func validRange(of string, least, most int) error {
	switch {
	case least < 1 || least > evolve.MaxN:
		return fmt.Errorf("breadth: %s.Min is %d: need 0 for 1 child, or at most %d", of, least, evolve.MaxN)
	case most < least || most > evolve.MaxN:
		return fmt.Errorf("breadth: %s.Max is %d: need 0 for the default, or at least Min, %d, and at most %d",
			of, most, least, evolve.MaxN)
	}
	return nil
}

// rangeOf returns a Min and a Max with their defaults: 1, and DefaultN or Min if that is more.
func rangeOf(least, most int) (int, int) {
	least = cmp.Or(least, 1)
	return least, cmp.Or(most, max(evolve.DefaultN, least))
}
