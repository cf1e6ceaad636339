package paper

import (
	"slices"
	"testing"
)

// Recorded from CPython 3.11: list({...}), the integers added in ascending order.
func TestOrderOfPythonSets(t *testing.T) {
	for _, c := range []struct {
		why  string
		want []int
	}{
		{"one", []int{41}},
		{"eight wraps around in a table of 8", []int{8, 9, 6, 7}},
		{"a collision goes on at 5·i+1", []int{13, 4, 12, 14}},
		{"five move to a table of 32, which wraps in turn", []int{32, 33, 34, 30, 31}},
		{"a collision there looks at the next slots", []int{65, 1, 2, 34, 33, 97}},
		{"multiples of 8 collide all the time", []int{0, 8, 16, 24}},
		{"the bits above are mixed in", []int{263, 519, 1031, 7}},
		{"nineteen move to a table of 128", []int{130, 135, 140, 145, 150, 155, 160, 165, 170, 175, 180, 185, 190, 195, 100,
			228, 105, 233, 110, 115, 120, 125}},
	} {
		if got := setOrder(slices.Sorted(slices.Values(c.want))); !slices.Equal(got, c.want) {
			t.Errorf("%s: order %v, Python's %v", c.why, got, c.want)
		}
	}
}
