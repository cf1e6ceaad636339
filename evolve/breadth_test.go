package evolve_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// A Breadth of somebody's that panics or asks for an impossible number ends the run with an error that names it.
// What was paid for until then is in the result, and the journal goes on once the Breadth is mended.
func TestBreadthThatIsBroken(t *testing.T) {
	for _, tt := range []struct {
		reason string
		then   func() int
		want   string
	}{
		{"none", func() int { return 0 }, "asks for 0 children in step 3: need at least 1"},
		{"fewer than none", func() int { return -4 }, "asks for -4 children"},
		{"too many", func() int { return evolve.MaxN + 1 }, "asks for 100001 children"},
		{"a panic", func() int { panic("boom") }, "panicked: boom"},
	} {
		broken := true
		b := evolve.BreadthFunc(func(past []evolve.Made) int {
			if len(past) == 2 && broken {
				return tt.then()
			}
			return 2 + len(past)
		})
		path := journalPath(t)
		run := func() (*evolve.Result, error) {
			j := openJournal(t, path)
			defer j.Close()
			list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, Seed: 40, Breadth: b}, 2)
			if err != nil {
				t.Fatal(err)
			}
			return evolve.Run(t.Context(), evolve.Config{Arms: list, Policy: &bandit.UCB1{}, Budget: evolve.Budget{Calls: 30},
				Journal: j})
		}
		res, err := run()
		if err == nil || res.Stop != evolve.StopError || !strings.Contains(err.Error(), tt.want) ||
			!strings.Contains(err.Error(), "Breadth evolve.BreadthFunc") {
			t.Errorf("%s: stopped by %s: %v, want %q", tt.reason, res.Stop, err, tt.want)
			continue
		}
		if n := len(records(t, path, record.Completion)); res.Calls < 5 || res.Calls != n || n != granted(res) {
			t.Errorf("%s: %d calls in the result and %d in the journal, of %d granted", tt.reason, res.Calls, n, granted(res))
		}
		broken = false
		if res, err := run(); err != nil || res.Calls != 30 {
			t.Errorf("%s: once it is mended, the run stops after %d calls: %v", tt.reason, res.Calls, err)
		}
	}
}

// granted returns how many calls the draws were granted.
func granted(r *evolve.Result) (n int) {
	for _, round := range r.Rounds {
		n += round.Pull.Calls
	}
	return n
}

// A search that is stepped by hand returns the error, and its Calls panics with it.
func TestBreadthThatIsBrokenByHand(t *testing.T) {
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber,
		Breadth: evolve.BreadthFunc(func([]evolve.Made) int { return 0 })})
	for range 2 {
		if gen, err := g.Step(t.Context(), nil); err == nil ||
			!strings.Contains(err.Error(), "asks for 0 children in step 1") || !gen.Partial {
			t.Errorf("Step returns %+v and %v", gen, err)
		}
	}
	defer func() {
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "asks for 0 children") || !g.Done() {
			t.Errorf("Calls panics with %v; done %v", v, g.Done())
		}
	}()
	g.Calls()
}

// Each step has as many children as the Breadth says, and the Breadth sees what they came to.
func TestGreedyWithABreadth(t *testing.T) {
	var saw []evolve.Made
	b := evolve.BreadthFunc(func(past []evolve.Made) int {
		saw = slices.Clone(past)
		return 1 + len(past)%5
	})
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, Seed: 40, N: 4, Breadth: b})
	seeds := map[uint32]bool{}
	var want []evolve.Made
	for i := range 40 {
		wish := min(1+i%5, 4)
		if got := g.Calls(); got != wish {
			t.Fatalf("step %d would make %d children, want %d", i+1, got, wish)
		}
		before := g.Best()
		gen, err := g.Step(t.Context(), evolve.TurnOf(3))
		if err != nil || len(gen.Children) != min(wish, 3) {
			t.Fatalf("step %d made %d children of %d: %v", i+1, len(gen.Children), wish, err)
		}
		m := evolve.Made{Children: len(gen.Children)}
		for j, c := range gen.Children {
			if seeds[c.Seed] || c.Seed != evolve.ChildSeed(40, 0, i, j) {
				t.Errorf("child %d of step %d has the seed %d, or had another", j, i+1, c.Seed)
			}
			seeds[c.Seed] = true
			if c.Result.Valid && c.Result.Score > before.Result.Score {
				m.Better++
			}
		}
		want = append(want, m)
	}
	g.Calls()
	for i := range saw {
		saw[i].Elapsed, saw[i].Kept = 0, 0
	}
	if !slices.Equal(saw, want) || len(saw) != 40 {
		t.Errorf("the breadth saw %+v, want %+v", saw, want)
	}
	if !slices.ContainsFunc(want, func(m evolve.Made) bool { return m.Better > 0 }) {
		t.Error("no step had a better child: the test sees nothing")
	}
}

// A Breadth sees how many children are better, and how many take the parent's place or would have: ties too, unless the
// search is strict.
func TestBreadthSeesTies(t *testing.T) {
	for _, tt := range []struct {
		initial              string
		programs             []string
		better, kept, strict int
	}{
		{"0", []string{"-1", "0.0", "x"}, 0, 1, 0},
		{"0", []string{"2", "2.0", "1"}, 3, 3, 3},
		{"0", []string{"0", "0.0", "x"}, 0, 1, 0}, // a copy of the parent moves nothing
		{"0", []string{"0.0", "0.00", "5"}, 1, 3, 1},
		{"y", []string{"x", "z", "1"}, 1, 1, 1},
	} {
		for strict, kept := range map[bool]int{false: tt.kept, true: tt.strict} {
			var saw []evolve.Made
			g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, tt.initial), Strict: strict,
				Breadth: evolve.BreadthFunc(func(past []evolve.Made) int {
					saw = slices.Clone(past)
					return len(tt.programs)
				}),
				LLM: llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
					return ok(tt.programs[slices.IndexFunc([]int{0, 1, 2}, func(i int) bool {
						return req.Seed == evolve.ChildSeed(0, 0, 0, i)
					})], 1), nil
				})})
			if _, err := g.Step(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if g.Calls(); saw[0].Better != tt.better || saw[0].Kept != kept {
				t.Errorf("%s, then %v, strict %v: %+v, want %d better and %d kept", tt.initial, tt.programs, strict, saw[0],
					tt.better, kept)
			}
		}
	}
}

// The Breadth is asked once a step, however often a run asks its arms.
func TestBreadthIsAskedOnceAStep(t *testing.T) {
	asked := map[int]int{}
	b := evolve.BreadthFunc(func(past []evolve.Made) int {
		asked[len(past)]++
		return 2
	})
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, Breadth: b})
	for range 3 {
		g.Calls()
		g.Calls()
		if _, err := g.Step(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(asked) != "map[0:1 1:1 2:1]" {
		t.Errorf("asked by the number of steps before: %v", asked)
	}
}

// A Breadth spends the budget to the last call.
func TestBreadthKeepsTheBudget(t *testing.T) {
	for _, inFlight := range []int{1, 3} {
		for _, b := range []evolve.Breadth{breadth.Adaptive{Min: 7, Max: 7}, breadth.Adaptive{}} {
			list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, Seed: 40, Breadth: b}, 4)
			if err != nil {
				t.Fatal(err)
			}
			res := mustRun(t, evolve.Config{Arms: list, Policy: &bandit.UCB1{}, InFlight: inFlight,
				Budget: evolve.Budget{Calls: 230}})
			if res.Calls != 230 || res.Limit != "Calls" || granted(res) != 230 {
				t.Errorf("%v, %d in flight: %d calls, %d granted, stopped by %s", b, inFlight, res.Calls, granted(res), res.Limit)
			}
		}
	}
}

// A journal belongs to the breadth that each arm had when it was begun.
func TestJournalOfArmsThatDifferInBreadth(t *testing.T) {
	one, two := breadth.Adaptive{Min: 2, Max: 2}, breadth.Adaptive{}
	for _, tt := range []struct {
		reason    string
		then, now []evolve.Breadth
		same      bool
	}{
		{"the same again", []evolve.Breadth{one, two, one}, []evolve.Breadth{one, two, one}, true},
		{"an arm has another's", []evolve.Breadth{one, two, one}, []evolve.Breadth{one, two, two}, false},
		{"two arms exchanged theirs", []evolve.Breadth{one, two}, []evolve.Breadth{two, one}, false},
		{"one has none any more", []evolve.Breadth{one, one}, []evolve.Breadth{one, nil}, false},
		{"a default", []evolve.Breadth{two}, []evolve.Breadth{breadth.Adaptive{Waste: 0.15}}, true},
		{"another count", []evolve.Breadth{breadth.Adaptive{Better: true, Waste: 0.15}}, []evolve.Breadth{two}, false},
		{"another value of time", []evolve.Breadth{two}, []evolve.Breadth{breadth.Adaptive{Second: 1}}, false},
		{"another that begins alike", []evolve.Breadth{two}, []evolve.Breadth{one}, false},
		{"none then", []evolve.Breadth{nil}, []evolve.Breadth{breadth.Adaptive{Min: 2}}, false},
		{"none now", []evolve.Breadth{breadth.Adaptive{Min: 2}}, []evolve.Breadth{nil}, false},
	} {
		path := journalPath(t)
		var err error
		for _, list := range [][]evolve.Breadth{tt.then, tt.now} {
			var arms []evolve.Arm
			for i, b := range list {
				arms = append(arms, newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, N: 2, Seed: uint32(i),
					Breadth: b}))
			}
			target := -1.0 // reached from the start: no draw is compared
			j := openJournal(t, path)
			_, err = evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{},
				Budget: evolve.Budget{Target: &target}, Journal: j})
			j.Close()
		}
		if tt.same && err != nil || !tt.same && (!errors.Is(err, journal.ErrDiverged) ||
			!strings.Contains(err.Error(), "breadth")) {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}
