package analysis

import (
	"reflect"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/stream"
)

// Where all splits are alike, the best of many noisy means is too high, and the fair score is not.
func TestFairEnvelope(t *testing.T) {
	const grids = 200
	best, fair := 0.0, 0.0
	for i := range uint64(grids) {
		r := stream.New(5, "fair", i)
		var runs []Curve
		for n := 1; n <= 64; n *= 2 {
			for seed := range int64(6) {
				v := r.NormFloat64()
				runs = append(runs, Curve{T: 64 / n, N: n, Seed: seed, Best: constant(v, 64/n+1)})
			}
		}
		points, err := gridOf(t, runs, GridConfig{MinCalls: 64}).Envelope(20, i)
		if err != nil {
			t.Fatal(err)
		}
		best += points[0].Cell.Mean / grids
		fair += points[0].Fair / grids
	}
	// The greatest of seven means of six is 1.35/√6 = 0.55 high. The mean of 200 fair ones has a spread of about 0.03.
	if best < 0.45 || fair < -0.12 || fair > 0.12 {
		t.Errorf("best %v, fair %v: want about 0.55 and 0", best, fair)
	}
}

func constant(v float64, n int) []float64 {
	c := make([]float64, n)
	for i := range c {
		c[i] = v
	}
	return c
}

func TestEnvelopeTiesAreShallow(t *testing.T) {
	var runs []Curve
	for _, n := range []int{1, 2, 4} {
		for seed := range int64(2) {
			runs = append(runs, Curve{T: 4 / n, N: n, Seed: seed, Best: constant(0.5, 4/n+1)})
		}
	}
	g := gridOf(t, runs, GridConfig{})
	points, err := g.Envelope(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		if p.Cell.T != 1 || p.Fair != 0.5 {
			t.Errorf("%+v", p)
		}
	}
	again, err := g.Envelope(0, 1)
	if err != nil || !reflect.DeepEqual(points, again) {
		t.Errorf("equal seeds give other halves: %v", err)
	}
	if _, err := g.Envelope(-1, 1); err == nil {
		t.Error("−1 halves are taken")
	}
	one := gridOf(t, runs[:1], GridConfig{})
	if _, err := one.Envelope(1, 1); err == nil || !strings.Contains(err.Error(), "breadth 1 has one seed") {
		t.Errorf("one seed: %v", err)
	}
}
