package bandit

import (
	"math"
	"slices"
	"testing"
)

func TestCourses(t *testing.T) {
	var c courses
	for i, arm := range []int{2, 0, 2, 2, 0} {
		c.add(arm, []float64{0.3, 0.5, 0.1, 0.4, 0.2}[i])
	}
	if c.total != 5 || c.pulls(0) != 2 || c.pulls(1) != 0 || c.pulls(2) != 3 || c.pulls(9) != 0 {
		t.Errorf("%d outcomes: %v", c.total, c.best)
	}
	for n, want := range []float64{math.Inf(-1), 0.3, 0.3, 0.4, 0.4} {
		if got := c.after(2, n); got != want {
			t.Errorf("after %d outcomes: %v, want %v", n, got, want)
		}
	}
	if c.now(0) != 0.5 || !math.IsInf(c.now(1), -1) || !math.IsInf(c.now(9), -1) {
		t.Errorf("best %v, %v, %v", c.now(0), c.now(1), c.now(9))
	}
	for _, tt := range []struct {
		reason string
		n      int
		want   []int
	}{
		{"after one each; an arm without outcomes is last", 1, []int{0, 2, 1, 3}},
		{"of equals the lower arm, whatever the order before", 0, []int{0, 1, 2, 3}},
	} {
		arms := []int{3, 2, 1, 0}
		if c.rank(arms, tt.n); !slices.Equal(arms, tt.want) {
			t.Errorf("%s: %v, want %v", tt.reason, arms, tt.want)
		}
	}
}
