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
