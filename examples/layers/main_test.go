package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

func output(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A finished run is told of again from its journal, word for word.
func TestRunGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	first := output(t, "--calls", "80", "--journal", path)
	if again := output(t, "--calls", "80", "--journal", path); again != first || !strings.HasPrefix(first, "80 calls;") {
		t.Errorf("it says\n%s\nand then\n%s", first, again)
	}
	if err := run(t.Context(), []string{"--calls", "80", "--seed", "2", "--journal", path}, &strings.Builder{}); err == nil {
		t.Error("another search goes on with the journal")
	}
}

func TestComparison(t *testing.T) {
	out := output(t, "--calls", "24", "--runs", "2")
	for _, want := range []string{"2 runs of each", "layers ", "best base alone", "random router", "first router", "one call routes", "flat: greedy, more FLOPs"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"--runs", "1"}, {"--runs", "-2"}, {"--calls", "0"}} {
		if err := run(t.Context(), args, &strings.Builder{}); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}

// The whole program that a router makes of its pool scores what the router was given.
func TestWholeIsWorthItsScore(t *testing.T) {
	b, err := newBench(10)
	if err != nil {
		t.Fatal(err)
	}
	var pool []eval.Candidate
	for _, rule := range []string{"a", "w / a", "-d", "a < b ? 1000 - a : b"} {
		program := signature + " return " + rule + " }"
		r, err := b.flat.Evaluate(t.Context(), program)
		if err != nil || !r.Valid {
			t.Fatal(r, err)
		}
		pool = append(pool, eval.Candidate{Program: program, Result: r})
	}
	routers, err := newRouterTask(b.runner, pool)
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
		as, err := b.flat.Evaluate(t.Context(), whole(pool, c.router))
		if err != nil || !as.Valid || as.Score != routed.Score || routed.Score < c.least {
			t.Errorf("%s scores %v, at least %v expected, and as a whole %+v, error %v", c.router, routed.Score, c.least, as, err)
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
