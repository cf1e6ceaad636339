package plot_test

import (
	"math"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		why       string
		scale     plot.Scale
		low, high float64
		want      []string
	}{
		{"a unit", plot.Linear, 0, 1, []string{"0", "0.2", "0.4", "0.6", "0.8", "1"}},
		{"inside, not at the ends", plot.Linear, 0.34, 0.71, []string{"0.4", "0.5", "0.6", "0.7"}},
		{"tiny", plot.Linear, 0, 0.003, []string{"0", "0.0005", "0.001", "0.0015", "0.002", "0.0025", "0.003"}},
		{"below zero", plot.Linear, -2, 1, []string{"−2", "−1.5", "−1", "−0.5", "0", "0.5", "1"}},
		{"powers of two", plot.Log2, 0, 3, []string{"1", "2", "4", "8"}},
		{"so many powers that every other has a label", plot.Log2, 0, 10,
			[]string{"1", "", "4", "", "16", "", "64", "", "256", "", "1024"}},
		{"decades", plot.Log10, 14, 16, []string{"1e14", "1e15", "1e16"}},
		{"far from zero", plot.Linear, 2.63590, 2.63598, []string{"2.6359", "2.63592", "2.63594", "2.63596", "2.63598"}},
		{"thousands with decimals", plot.Linear, 12345.1, 12345.9, []string{"12345.2", "12345.4", "12345.6", "12345.8"}},
		{"one value, as far as a float64 tells", plot.Linear, 0.7, 0.7000000000000001, []string{"0.7"}},
		{"between two powers of two", plot.Log2, math.Log2(9), math.Log2(13), []string{"9", "10", "11", "12", "13"}},
		{"between two round multiples", plot.Log10, math.Log10(3.1), math.Log10(3.9), []string{"3.2", "3.4", "3.6", "3.8"}},
		{"less than two decades", plot.Log10, -2, -1, []string{"0.01", "0.02", "0.03", "0.05", "0.07", "0.1"}},
	} {
		var got []string
		for _, tick := range plot.TicksOf(c.scale, c.low, c.high) {
			if tick.Value < c.low-1e-6 || tick.Value > c.high+1e-6 {
				t.Errorf("%s: a tick at %v", c.why, tick.Value)
			}
			got = append(got, tick.Label)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1024: "1024", 65536: "65536", 1e15: "1e15", 2.5e-7: "2.5e−7", -0.25: "−0.25",
		0.1 + 0.2: "0.3",
	} {
		if got := plot.Number(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
