package layering

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

// The whole program that a router makes of its pool scores what the router was given.
func TestWholeIsWorthItsScore(t *testing.T) {
	b, err := NewBench(10)
	if err != nil {
		t.Fatal(err)
	}
	var pool []eval.Candidate
	for _, rule := range []string{"a", "w / a", "-d", "a < b ? 1000 - a : b"} {
		program := signature + " return " + rule + " }"
		r, err := b.Rules.Evaluate(t.Context(), program)
		if err != nil || !r.Valid {
			t.Fatal(r, err)
		}
		pool = append(pool, eval.Candidate{Program: program, Result: r})
	}
	routers, err := NewRouter(b.Runner, pool)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		router string
		least  float64
	}{
		{routers.Initial(), 0},
		{"function weights() { return [[-9, 5, 0, 0], [0, 0, 0, 0], [-1, 0, 0, 2], [-90, 0, 60, 0]] }", 0.97},
		{"function weights() { return [[NaN, 0, 0, 0]] }", -1},
		{"function weights() { return [[1, 0, 0, 0]] }", -1},
		{"function weights() { return pool }", -1},
	} {
		routed, err := routers.Evaluate(t.Context(), c.router)
		if err != nil {
			t.Fatal(err)
		}
		if c.least < 0 {
			if routed.Valid {
				t.Errorf("%s is valid", c.router)
			}
			continue
		}
		as, err := b.Rules.Evaluate(t.Context(), Whole(pool, c.router))
		if err != nil || !as.Valid || as.Score != routed.Score || routed.Score < c.least {
			t.Errorf("%s scores %v, at least %v expected, and as a whole %+v, error %v", c.router, routed.Score, c.least, as,
				err)
		}
	}
}

// A rule that fails where it is held out is worth nothing there, whichever comes first.
func TestBestOfRulesThatFail(t *testing.T) {
	bad, good := eval.Invalid("failed"), result([]float64{0.5, 1})
	for _, of := range [][]eval.Result{{bad, good}, {good, bad}, {result([]float64{0.5, 0}), result([]float64{0.2, 1})}} {
		if r := best(of); !r.Valid || r.Score != 0.75 {
			t.Errorf("the best of %+v is %+v", of, r)
		}
	}
}

// With two stages no order is better than Johnson's, as is known.
func TestJohnsonsRuleIsTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range newShops(5, 3) {
		if s.Stages == 1 {
			continue
		}
		for range 500 {
			p := make([]float64, len(s.Jobs))
			for i := range p {
				p[i] = r.Float64()
			}
			if got := s.score(p); got > 1+1e-9 || math.IsNaN(got) {
				t.Fatalf("a random order scores %v", got)
			}
		}
	}
}
