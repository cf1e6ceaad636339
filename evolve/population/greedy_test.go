package population_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/task"
)

// What is left out of a Config is greedy search's, child for child: requests, programs, scores, parents, and attempts.
func TestDefaultsAreGreedy(t *testing.T) {
	for _, tt := range notrun.Few([]struct {
		reason  string
		initial string
		n       int
		window  int
		order   evolve.Order
		breadth evolve.Breadth
	}{
		{"the paper's search", "0", 8, 0, evolve.ByIndex, nil},
		{"one child a step", "0", 1, 0, evolve.ByIndex, nil},
		{"steady state: children of a step have different parents", "0", 60, 7, evolve.ByIndex, nil},
		{"the order in which calls end decides", "0", 60, 7, evolve.AsTheyEnd, nil},
		{"the breadth decides the children's seeds too", "0", 0, 0, evolve.ByIndex, breadth.Adaptive{}},
		{"an initial program that is invalid is a parent all the same", "no number", 8, 0, evolve.ByIndex, nil},
	}, 0, 3, 4) {
		synctest.Test(t, func(t *testing.T) {
			g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: numbers(t, tt.initial), LLM: slow(1), N: tt.n, Seed: 40,
				Window: tt.window, Order: tt.order, Breadth: tt.breadth})
			if err != nil {
				t.Fatal(err)
			}
			p := newPopulation(t, population.Config{Task: numbers(t, tt.initial), LLM: slow(1), N: tt.n, Seed: 40,
				Window: tt.window, Order: tt.order, Breadth: tt.breadth})
			want, got := run(t, g, 120), run(t, p, 120)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(evolve.Result{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: (-greedy +population)\n%s", tt.reason, diff)
			}
			if len(want.Arms[0].Generations) == 0 || want.Best.Result.Score <= 0 {
				t.Errorf("%s: greedy search found nothing, so the test sees nothing: %+v", tt.reason, want.Best)
			}
		})
	}
}

// Drift is what greedy search keeps unless it is strict, child for child, where many programs score the same.
func TestDriftIsGreedy(t *testing.T) {
	for _, window := range []int{0, 5} {
		synctest.Test(t, func(t *testing.T) {
			children := func(arm evolve.Arm) (list []evolve.Child) {
				for _, g := range run(t, arm, 160).Arms[0].Generations {
					list = append(list, g.Children...)
				}
				return list
			}
			neutral := func(neutral bool) []evolve.Child {
				g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: stepped(t, "0"), LLM: slow(1), N: 16, Window: window,
					Strict: !neutral})
				if err != nil {
					t.Fatal(err)
				}
				return children(g)
			}
			want := neutral(true)
			got := children(newPopulation(t, population.Config{Task: stepped(t, "0"), LLM: slow(1), N: 16, Window: window}))
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("window %d: (-neutral greedy +Drift)\n%s", window, diff)
			}
			if cmp.Equal(want, neutral(false), cmpopts.EquateEmpty()) {
				t.Errorf("window %d: no two programs scored the same, so the test sees nothing", window)
			}
		})
	}
}

// Whatever the seed, greedy search and a population of one program make the same children: Top(1) those of a search that
// keeps its parent at a tie, and Drift those of one that does not.
func TestOneProgramIsGreedy(t *testing.T) {
	drifted := 0
	seeds := notrun.Length(uint32(8), 200)
	for seed := range seeds {
		for _, ties := range []bool{false, true} { // many programs score the same, or no two do
			tk := numbers(t, "0")
			if ties {
				tk = stepped(t, "0")
			}
			n, window := 1+int(seed)%7, int(seed)%3
			var width evolve.Breadth // which counts ties where the search takes them
			if seed%2 == 1 {
				width, n = breadth.Adaptive{}, 0
			}
			children := func(arm evolve.Arm) (list []evolve.Child) {
				for _, g := range run(t, arm, 40).Arms[0].Generations {
					list = append(list, g.Children...)
				}
				return list
			}
			of := map[bool][]evolve.Child{}
			for neutral, archive := range map[bool]population.Archive{false: population.Top(1), true: population.Drift()} {
				g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: climber, N: n, Window: window, Seed: seed,
					Breadth: width, Strict: !neutral})
				if err != nil {
					t.Fatal(err)
				}
				of[neutral] = children(g)
				got := children(newPopulation(t, population.Config{Task: tk, LLM: climber, N: n, Window: window, Seed: seed,
					Breadth: width, Archive: archive}))
				if diff := cmp.Diff(of[neutral], got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("seed %d, ties %v, %v: (-greedy +population)\n%s", seed, ties, archive, diff)
				}
			}
			if !cmp.Equal(of[false], of[true], cmpopts.EquateEmpty()) {
				drifted++
			}
		}
	}
	if drifted < int(seeds)/4 {
		t.Errorf("ties changed %d of %d searches, so the test sees little", drifted, 2*seeds)
	}
}

// stepped are numbers whose scores many programs have.
func stepped(t testing.TB, initial string) task.Task {
	exact := numbers(t, initial)
	return made(t, task.Spec{Name: "steps", Language: "text", System: "Write a larger number.", Initial: initial,
		Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			r, err := exact.Evaluate(ctx, program)
			r.Score = math.Floor(2 * r.Score)
			return r, err
		})})
}

// The start is taken as given, as by greedy search.
func TestStart(t *testing.T) {
	start := eval.Candidate{Program: "7", Result: eval.Result{Valid: true, Score: 7}}
	p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: climber, N: 4, Start: &start})
	for range 2 {
		if _, err := p.Step(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if best := p.Best().Result.Score; best < 7 || p.Steps() != 2 {
		t.Errorf("best %v after %d steps", best, p.Steps())
	}
	if got, want := p.String(), "Population(numbers, N=4, seed=0, Drift, Best, rewrite)"; got != want {
		t.Errorf("it prints as %s, want %s", got, want)
	}
}

// The same search comes to the same children whatever ends first, in the parts that draw too. The budget is one of
// rounds: which of a judge's calls finds no room in one of calls, time decides.
func TestByIndexDoesNotDependOnWhatEndsFirst(t *testing.T) {
	for _, window := range []int{0, 1, 5} {
		var want string
		for shuffle := range uint64(5) {
			synctest.Test(t, func(t *testing.T) {
				res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{mustMixed(t, late(shuffle), window,
					evolve.ByIndex)},
					Budget: evolve.Budget{Rounds: 4}})
				if err != nil {
					t.Fatal(err)
				}
				checkMixed(t, res)
				var got string
				for _, g := range res.Arms[0].Generations {
					for _, c := range g.Children {
						got += fmt.Sprintf("%d %v %s %d %q %v %s\n", c.ID, c.Parents, c.Operator, c.Seed, c.Program, c.Result.Score,
							c.Err)
					}
				}
				if want == "" {
					want = got
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("window %d: another order of replies comes to other children:\n%s", window, diff)
				}
			})
		}
	}
}

// A journal belongs to the breadth with which it was begun.
func TestJournalOfAnotherBreadth(t *testing.T) {
	for _, tt := range []struct {
		reason    string
		then, now evolve.Breadth
		same      bool
	}{
		{"the same again", breadth.Adaptive{}, breadth.Adaptive{}, true},
		{"another one", breadth.Adaptive{Waste: 0.2}, breadth.Adaptive{}, false},
		{"none now", breadth.Adaptive{Min: evolve.DefaultN}, nil, false},
	} {
		path := filepath.Join(t.TempDir(), "journal")
		var err error
		for _, b := range []evolve.Breadth{tt.then, tt.now} {
			j, bad := journal.Open(path, journal.Config{Resume: true})
			if bad != nil {
				t.Fatal(bad)
			}
			target := -1.0 // reached from the start: no draw is compared
			p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: climber, Breadth: b})
			_, err = evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p}, Budget: evolve.Budget{Target: &target},
				Journal: j})
			j.Close()
		}
		if tt.same && err != nil || !tt.same && (!errors.Is(err, journal.ErrDiverged) ||
			!strings.Contains(err.Error(), "breadth")) {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}
