package tuning

import (
	"strings"
	"testing"
)

// Runs that were made before it was stopped are shown, without an interval if they are too few for one.
func TestIncompleteRow(t *testing.T) {
	few := []float64{0.5, 1, 0.25}
	for _, tt := range []struct {
		values []float64
		want   string
	}{{few, "0.500  "}, {append(few, 0.5, 0.5, 0.5), "0.500 [0.250, 1.000]  "}} {
		line := row{tt.values, tt.values, tt.values, tt.values, tt.values}.line("sine")
		if !strings.HasPrefix(line, "sine          "+tt.want) {
			t.Errorf("%d runs: %q, want %q", len(tt.values), line, tt.want)
		}
	}
}

// The ranks are those of the binomial distribution, also where the chance of no heads at all is less than a number holds.
func TestInterval(t *testing.T) {
	for _, tt := range []struct {
		n         int
		low, high float64
	}{{6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {20, 6, 15}, {100, 40, 61}, {2000, 956, 1045}} {
		var values []float64
		for i := range tt.n {
			values = append(values, float64(i+1))
		}
		if low, high := interval(values); low != tt.low || high != tt.high {
			t.Errorf("of 1 to %d: %v to %v, want %v to %v", tt.n, low, high, tt.low, tt.high)
		}
	}
}
