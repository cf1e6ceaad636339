package analyze

import (
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

func TestShown(t *testing.T) {
	for _, c := range []struct {
		why      string
		breadths []int
		best     int
		want     []int
		omitted  bool
	}{
		{"one", []int{8}, 8, []int{8}, false},
		{"few enough for all", []int{1, 2, 4, 8, 16}, 2, []int{1, 2, 4, 8, 16}, false},
		{"the best is none of the others", []int{1, 2, 4, 8, 16, 32, 64, 128}, 8, []int{1, 4, 8, 16, 128}, true},
		{"the best is one of the others", []int{1, 2, 4, 8, 16, 32, 64, 128}, 1, []int{1, 4, 16, 128}, true},
	} {
		s := &study{Method: "greedy", Breadths: c.breadths, deepest: map[int][]file{}}
		for _, n := range c.breadths {
			f := file{Curve: analysis.Curve{N: n, T: 1, Best: []float64{0, 0.5}}}
			if n == c.best {
				f.Best[1] = 0.75
			}
			s.deepest[n] = []file{f}
		}
		if got := s.shown(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v of %v, want %v", c.why, got, c.breadths, c.want)
		}
		p := problem{Studies: []*study{s}}
		if got := p.omitted(); strings.Contains(got, "of 8 breadths") != c.omitted {
			t.Errorf("%s: the figure says %q", c.why, got)
		}
	}
}
