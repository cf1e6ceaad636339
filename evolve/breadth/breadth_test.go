package breadth_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
)

// made returns n steps of this many children, of which so many are kept and none is better, that took so long.
func made(n, children, kept int, took time.Duration) []evolve.Made {
	return slices.Repeat([]evolve.Made{{Children: children, Kept: kept, Elapsed: took}}, n)
}

func TestAdaptive(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		reason string
		b      breadth.Adaptive
		past   []evolve.Made
		want   int
	}{
		// p = 0.5: (1-(1-p)^n)/np is 1, 0.75 and 0.583 at 1, 2 and 3.
		{"a new search has p = 1/2, where a second child does not pay", breadth.Adaptive{}, nil, 1},
		{"but with a larger Waste", breadth.Adaptive{Waste: 0.3}, nil, 2},
		{"Min", breadth.Adaptive{Min: 7, Waste: -1}, nil, 7},
		// p = 2/(6+4), from the recent half of the children: (1-(1-p)^n)/np is 0.9 at 2 and 0.813 at 3.
		{"without a kept child about 0.9 + 0.33/p", breadth.Adaptive{}, made(12, 1, 0, s), 2},
		{"which is more and more", breadth.Adaptive{}, made(60, 1, 0, s), 4},
		{"and at most √s/2", breadth.Adaptive{}, made(420, 1, 0, s), 10},
		{"or Max", breadth.Adaptive{Max: 6}, made(420, 1, 0, s), 6},
		{"no waste at all", breadth.Adaptive{Waste: -1}, made(20, 1, 0, s), 1},
		{"all are kept", breadth.Adaptive{}, made(60, 1, 1, s), 1},
		{"what was kept long ago is forgotten", breadth.Adaptive{}, append(made(300, 1, 1, s), made(400, 1, 0, s)...), 13},
		{"steps without a child tell nothing", breadth.Adaptive{Second: 5}, made(3, 0, 0, s), 1},
		// p = 2/5, from the newer of two steps. With 500 calls for the time of a step (1-0.6^n)/(n+500) is largest where
		// 0.6^n = 1/(1+ln(5/3)·(n+500)), that is, at n = 10.9.
		{"time that is worth nothing", breadth.Adaptive{Waste: -1}, made(2, 1, 0, 100*s), 1},
		{"time that is worth much", breadth.Adaptive{Waste: -1, Second: 5}, made(2, 1, 0, 100*s), 11},
		{"of which no more is wasted", breadth.Adaptive{Second: 5}, made(2, 1, 0, 100*s), 11},
		// p = 0.5/(10+1), from the recent half of the children: (1-(1-p)^n)/np is 0.707 at 17 and 0.693 at 18.
		{"only better ones count", breadth.Adaptive{Better: true}, made(20, 1, 1, s), 17},
		{"and n goes to Max", breadth.Adaptive{Better: true}, made(1000, 64, 0, s), 64},
		// τ = n seconds: with a second worth any number of calls, wide steps save nothing.
		{"steps that take as long as their children one by one", breadth.Adaptive{Waste: -1, Second: 1000},
			append(made(9, 2, 0, 2*s), made(9, 4, 0, 4*s)...), 1},
	} {
		if got := tt.b.Children(tt.past); got != tt.want {
			t.Errorf("%s: %v makes %d children, want %d", tt.reason, tt.b, got, tt.want)
		}
	}
}

// The width that Adaptive finds by halving is the one that the formula in its comment has, over all of Min..Max.
func TestAdaptiveIsItsFormula(t *testing.T) {
	for i := range 2000 {
		r := rand.New(rand.NewPCG(9, uint64(i)))
		a := breadth.Adaptive{Second: []float64{0, 0.1, 5, 300}[r.IntN(4)], Waste: []float64{-1, 0.05, 0.3, 0.7}[r.IntN(4)],
			Min: 1 + r.IntN(3), Max: 3 + r.IntN(300), Better: i%2 == 0}
		var past []evolve.Made
		for range r.IntN(60) {
			n := 1 + r.IntN(40)
			kept := min(n, r.IntN(1+r.IntN(4)))
			past = append(past, evolve.Made{Children: n, Better: r.IntN(1 + kept), Kept: kept,
				Elapsed: time.Duration(r.IntN(3000)*n/(1+r.IntN(8))) * time.Millisecond})
		}
		want, tie := byFormula(a, past)
		if got := a.Children(past); got != want && !tie {
			t.Fatalf("%v after %d steps makes %d children, want %d", a, len(past), got, want)
		}
	}
}

// byFormula tries every width. tie says that the one after the last good one is as good but for rounding.
func byFormula(a breadth.Adaptive, past []evolve.Made) (n int, tie bool) {
	all, held, m, counted := 0, 0, 4.0, 2.0
	if a.Better {
		m, counted = 1, 0.5
	}
	for _, s := range past {
		all += s.Children
	}
	for i := len(past) - 1; i >= 0 && 2*held < all; i-- {
		held += past[i].Children
		if m += float64(past[i].Children); a.Better {
			counted += float64(past[i].Better)
		} else {
			counted += float64(past[i].Kept)
		}
	}
	took := leastSquares(past)
	rate := func(n int) float64 {
		return (1 - math.Pow(1-counted/m, float64(n))) / (float64(n) + a.Second*(took[0]+took[1]*float64(n)))
	}
	best, peak := 0.0, 0
	for n := a.Min; n <= a.Max; n++ {
		if r := rate(n); r > best {
			best, peak = r, n
		}
	}
	enough, most := best*(1-max(0, a.Waste)), a.Max
	if !a.Better {
		most = min(most, max(peak, 4, int(math.Sqrt(float64(len(past)))/2)))
	}
	for n := most; ; n-- {
		if r := rate(n); r >= enough*(1-1e-9) {
			return n, r < enough*(1+1e-9)
		}
	}
}

// leastSquares tries each of the two coefficients at 0, and both free, and takes the best that is not negative.
func leastSquares(steps []evolve.Made) (best [2]float64) {
	var k, n, t, nn, nt float64
	for _, s := range steps {
		x, y := float64(s.Children), s.Elapsed.Seconds()
		k, n, t, nn, nt = k+1, n+x, t+y, nn+x*x, nt+x*y
	}
	if k == 0 {
		return best
	}
	least := math.Inf(1)
	try := func(a, b float64) {
		e := 0.0
		for _, s := range steps {
			e += math.Pow(s.Elapsed.Seconds()-a-b*float64(s.Children), 2)
		}
		if a >= 0 && b >= 0 && e < least {
			least, best = e, [2]float64{a, b}
		}
	}
	try(t/k, 0)
	if d := k*nn - n*n; d > 0 {
		try((t*nn-n*nt)/d, (k*nt-n*t)/d)
		try(0, nt/nn)
	}
	return best
}

// A decision does not become slower as a search grows: its time is bounded by the steps that are read.
func TestBreadthsReadTheRecentPast(t *testing.T) {
	for _, b := range []evolve.Breadth{breadth.Adaptive{}, breadth.Adaptive{Second: 1}} {
		recent := made(400, 2, 0, time.Second)
		one := b.Children(append(made(5000, 1, 1, 0), recent...))
		two := b.Children(append(made(5000, 64, 64, time.Hour), recent...))
		if one != two {
			t.Errorf("%v makes %d children, and %d if other steps came before the last 400", b, one, two)
		}
	}
}

// Fields that make no sense are refused before anything is paid for.
func TestBreadthFields(t *testing.T) {
	for _, tt := range []struct {
		b    evolve.Breadth
		want string // in the error; "" for none
	}{
		{breadth.Adaptive{}, ""},
		{breadth.Adaptive{Waste: -1}, ""},
		{breadth.Adaptive{Waste: 1}, "Adaptive.Waste is 1"},
		{breadth.Adaptive{Waste: math.NaN()}, "Adaptive.Waste is NaN"},
		{breadth.Adaptive{Second: -1}, "Adaptive.Second is -1"},
		{breadth.Adaptive{Second: math.Inf(1)}, "Adaptive.Second is +Inf"},
		{breadth.Adaptive{Min: evolve.MaxN + 1}, "Adaptive.Min is 100001"},
		{breadth.Adaptive{Min: -1}, "Adaptive.Min is -1"},
		{breadth.Adaptive{Min: 8, Max: 4}, "Adaptive.Max is 4"},
		{breadth.Adaptive{Max: evolve.MaxN + 1}, "Adaptive.Max is 100001"},
	} {
		_, err := (&evolve.Breeder{}).Width(tt.b)
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want an error that says %q", tt.b, err, tt.want)
		}
	}
}
