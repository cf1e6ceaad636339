package bandit_test

import (
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
)

func TestShares(t *testing.T) {
	for _, tt := range []struct {
		reason string
		p      bandit.Shares
		open   []bool
		want   []float64
	}{
		{"they need not sum to 1", bandit.Shares{3, 1}, all(2), []float64{0.75, 0.25}},
		{"those of a closed arm are shared out", bandit.Shares{0.5, 0.25, 0.25}, []bool{false, true, true},
			[]float64{0, 0.5, 0.5}},
		{"0 is never", bandit.Shares{1, 0, 1}, all(3), []float64{0.5, 0, 0.5}},
		{"but where all that are open have 0", bandit.Shares{1, 0, 0}, []bool{false, true, true}, []float64{0, 0.5, 0.5}},
	} {
		tt.p.Update(outcome(0), 1) // makes no difference
		if got := ask(tt.p, tt.open); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}
