package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// With so many pairs a t-test finds the difference in about 80 % of studies, and with a quarter of them in far fewer.
func TestRunsToDecideHasThePower(t *testing.T) {
	found := func(n int, sd, difference float64) float64 {
		r := rand.New(rand.NewPCG(3, uint64(n)))
		hits, studies := 0, 4000
		critical := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
		for range studies {
			x := make([]float64, n)
			for i := range x {
				x[i] = difference + sd*r.NormFloat64()
			}
			mean, sd := stat.MeanStdDev(x, nil)
			if math.Abs(mean) > critical*sd/math.Sqrt(float64(n)) {
				hits++
			}
		}
		return float64(hits) / float64(studies)
	}
	for _, tt := range []struct{ sd, difference float64 }{{1, 1}, {0.05, 0.01}, {2, -0.5}} {
		n, err := RunsToDecide(tt.sd, tt.difference, 0.95, 0.8)
		if err != nil {
			t.Fatal(err)
		}
		// Four standard deviations of a share of 4000 are 0.025. Few pairs have a little less than is asked for, as the
		// formula takes Student's quantile for that of the noncentral distribution.
		if p := found(n, tt.sd, tt.difference); p < 0.8-0.03 || p > 0.8+0.05 {
			t.Errorf("sd %v, difference %v: %d pairs have a power of %.3f, want 0.8", tt.sd, tt.difference, n, p)
		}
		if p := found(max(n/4, 2), tt.sd, tt.difference); p > 0.6 {
			t.Errorf("sd %v, difference %v: a quarter of %d pairs has a power of %.3f already", tt.sd, tt.difference, n, p)
		}
	}
}

func TestRunsToDecideEnds(t *testing.T) {
	for _, tt := range []struct {
		reason                       string
		sd, difference, level, power float64
	}{
		{"no difference", 1, 0, 0.95, 0.8}, {"one that is no number", 1, math.NaN(), 0.95, 0.8},
		{"a negative sd", -1, 1, 0.95, 0.8},
		{"an sd that is no number", math.NaN(), 1, 0.95, 0.8}, {"a level of 1", 1, 1, 1, 0.8},
		{"a power of 0", 1, 1, 0.95, 0},
		{"more runs than there can be", 1e9, 1e-9, 0.95, 0.8},
	} {
		if n, err := RunsToDecide(tt.sd, tt.difference, tt.level, tt.power); err == nil {
			t.Errorf("%s: %d runs, want an error", tt.reason, n)
		}
	}
	if n, err := RunsToDecide(0, 0.1, 0.95, 0.8); n != 2 || err != nil {
		t.Errorf("without scatter: %d runs, %v, want 2", n, err)
	}
}

func ExampleRunsToDecide() {
	n, err := RunsToDecide(0.05, 0.01, 0.95, 0.8)
	fmt.Println(n, err)
	// Output: 199 <nil>
}
