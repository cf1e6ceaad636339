package eval

import "testing"

func TestStrict(t *testing.T) {
	for _, tt := range []struct {
		reason string
		r      Result
		want   float64
	}{
		{"no tolerance was used", Result{Valid: true, Score: 2}, 2},
		{"less without it", Result{Valid: true, Score: 2, Metrics: map[string]float64{exactScore: 1.5}}, 1.5},
		{"nothing is left", Result{Valid: true, Score: 2, Metrics: map[string]float64{exactScore: 0}}, 0},
		{"invalid stays so", Result{Reason: "no", Metrics: map[string]float64{exactScore: 1}}, 0},
	} {
		if r := tt.r.Strict(); r.Score != tt.want || r.Valid != tt.r.Valid {
			t.Errorf("%s: %v, want %v", tt.reason, r, tt.want)
		}
	}
}
