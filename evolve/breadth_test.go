package evolve_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// made returns n steps of this many children, of which so many are better, that took so long.
func made(n, children, better int, took time.Duration) []evolve.Made {
	return slices.Repeat([]evolve.Made{{Children: children, Better: better, Elapsed: took}}, n)
}

func TestDoubling(t *testing.T) {
	wide := evolve.Doubling{Up: 1.5, Down: 1, Min: 2, Max: 10}
	for _, tt := range []struct {
		reason string
		b      evolve.Doubling
		past   []evolve.Made
		want   int
	}{
		{"it begins with Min", evolve.Doubling{}, nil, 1},
		{"it begins with Min", wide, nil, 2},
		{"twice as wide without gain", evolve.Doubling{}, made(1, 8, 0, 0), 16},
		{"up to Max", evolve.Doubling{}, made(1, 64, 0, 0), 64},
		{"a quarter after a gain", evolve.Doubling{}, made(1, 64, 3, 0), 16},
		{"down to Min", evolve.Doubling{}, made(1, 2, 1, 0), 1},
		{"only the last step counts", evolve.Doubling{}, append(made(9, 64, 9, 0), made(1, 4, 0, 0)...), 8},
		{"a factor below 2 still leads on from 1", evolve.Doubling{Up: 1.1}, made(1, 1, 0, 0), 2},
		{"an uneven factor rounds up", wide, made(1, 5, 0, 0), 8},
		{"Down of 1 keeps the width", wide, made(1, 5, 1, 0), 5},
		{"a step for which there was no room", evolve.Doubling{}, made(1, 0, 0, 0), 1},
		{"a factor beyond all numbers", evolve.Doubling{Up: math.MaxFloat64, Max: evolve.MaxN}, made(1, 1000, 0, 0), evolve.MaxN},
		{"Min above the default of Max", evolve.Doubling{Min: 100}, nil, 100},
	} {
		if got := tt.b.Children(tt.past); got != tt.want {
			t.Errorf("%s: %v makes %d children, want %d", tt.reason, tt.b, got, tt.want)
		}
	}
}

func TestAdaptive(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		reason string
		b      evolve.Adaptive
		past   []evolve.Made
		want   int
	}{
		// p = 0.5: (1-(1-p)^n)/np is 1, 0.75 and 0.583 at 1, 2 and 3.
		{"a new search has p = 1/2, where a second child still pays and a third does not", evolve.Adaptive{}, nil, 2},
		{"and with a smaller Waste a second does not either", evolve.Adaptive{Waste: 0.2}, nil, 1},
		{"Min", evolve.Adaptive{Min: 7, Waste: -1}, nil, 7},
		// p = 0.5/(10+1), from the recent half of the children: (1-(1-p)^n)/np is 0.707 at 17 and 0.693 at 18.
		{"without gain about 1/2 + 0.76/p", evolve.Adaptive{}, made(20, 1, 0, s), 17},
		{"Max", evolve.Adaptive{Max: 6}, made(20, 1, 0, s), 6},
		{"no waste at all", evolve.Adaptive{Waste: -1}, made(20, 1, 0, s), 1},
		{"all gains", evolve.Adaptive{}, made(20, 1, 1, s), 1},
		{"a long time without gain", evolve.Adaptive{}, made(1000, 64, 0, s), 64},
		{"gains of long ago are forgotten", evolve.Adaptive{}, append(made(300, 1, 1, s), made(400, 1, 0, s)...), 64},
		{"steps without a child tell nothing", evolve.Adaptive{Second: 5}, made(3, 0, 0, s), 2},
		// p = 0.5/2, from the newer of two steps. With 500 calls for the time of a step (1-0.75^n)/(n+500) is largest
		// where 0.75^n = 1/(1+ln(4/3)·(n+500)), that is, at n = 17.4.
		{"time that is worth nothing", evolve.Adaptive{Waste: -1}, made(2, 1, 0, 100*s), 1},
		{"time that is worth much", evolve.Adaptive{Waste: -1, Second: 5}, made(2, 1, 0, 100*s), 17},
		// τ = n seconds: with a second worth any number of calls, wide steps save nothing.
		{"steps that take as long as their children one by one", evolve.Adaptive{Waste: -1, Second: 1000},
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
		a := evolve.Adaptive{Second: []float64{0, 0.1, 5, 300}[r.IntN(4)], Waste: []float64{-1, 0.05, 0.3, 0.7}[r.IntN(4)], Min: 1 + r.IntN(3), Max: 3 + r.IntN(300)}
		var past []evolve.Made
		for range r.IntN(60) {
			n := 1 + r.IntN(40)
			past = append(past, evolve.Made{Children: n, Better: min(n, r.IntN(1+r.IntN(4))), Elapsed: time.Duration(r.IntN(3000)*n/(1+r.IntN(8))) * time.Millisecond})
		}
		want, tie := byFormula(a, past)
		if got := a.Children(past); got != want && !tie {
			t.Fatalf("%v after %d steps makes %d children, want %d", a, len(past), got, want)
		}
	}
}

// byFormula tries every width. tie says that the one after the last good one is as good but for rounding.
func byFormula(a evolve.Adaptive, past []evolve.Made) (n int, tie bool) {
	all, held, m, better := 0, 0, 1.0, 0.5
	for _, s := range past {
		all += s.Children
	}
	for i := len(past) - 1; i >= 0 && 2*held < all; i-- {
		held += past[i].Children
		m, better = m+float64(past[i].Children), better+float64(past[i].Better)
	}
	took := leastSquares(past)
	rate := func(n int) float64 {
		return (1 - math.Pow(1-better/m, float64(n))) / (float64(n) + a.Second*(took[0]+took[1]*float64(n)))
	}
	best := 0.0
	for n := a.Min; n <= a.Max; n++ {
		best = max(best, rate(n))
	}
	enough := best * (1 - max(0, a.Waste))
	for n := a.Max; ; n-- {
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
	for _, b := range []evolve.Breadth{evolve.Fixed(3), evolve.Doubling{}, evolve.Adaptive{Second: 1}} {
		recent := made(400, 2, 0, time.Second)
		for _, before := range [][]evolve.Made{made(1, 1, 1, 0), made(5000, 64, 64, time.Hour)} {
			if got, want := b.Children(append(before, recent...)), b.Children(recent); got != want {
				t.Errorf("%v makes %d children, and %d if more steps came before the last 400", b, want, got)
			}
		}
	}
}

// Fields that make no sense are refused before anything is paid for.
func TestBreadthFields(t *testing.T) {
	for _, tt := range []struct {
		b    evolve.Breadth
		want string // in the error; "" for none
	}{
		{evolve.Fixed(1), ""},
		{evolve.Fixed(0), "Fixed(0)"},
		{evolve.Fixed(evolve.MaxN + 1), "Fixed(100001)"},
		{evolve.Doubling{}, ""},
		{evolve.Doubling{Up: 1}, "Doubling.Up is 1"},
		{evolve.Doubling{Up: math.NaN()}, "Doubling.Up is NaN"},
		{evolve.Doubling{Down: 0.5}, "Doubling.Down is 0.5"},
		{evolve.Doubling{Min: -1}, "Doubling.Min is -1"},
		{evolve.Doubling{Min: 8, Max: 4}, "Doubling.Max is 4"},
		{evolve.Doubling{Max: evolve.MaxN + 1}, "Doubling.Max is 100001"},
		{evolve.Adaptive{}, ""},
		{evolve.Adaptive{Waste: -1}, ""},
		{evolve.Adaptive{Waste: 1}, "Adaptive.Waste is 1"},
		{evolve.Adaptive{Waste: math.NaN()}, "Adaptive.Waste is NaN"},
		{evolve.Adaptive{Second: -1}, "Adaptive.Second is -1"},
		{evolve.Adaptive{Second: math.Inf(1)}, "Adaptive.Second is +Inf"},
		{evolve.Adaptive{Min: evolve.MaxN + 1}, "Adaptive.Min is 100001"},
	} {
		_, err := evolve.NewGreedy(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, Breadth: tt.b})
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want an error that says %q", tt.b, err, tt.want)
		}
	}
}

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
			return evolve.Run(t.Context(), evolve.Config{Arms: list, Policy: &bandit.UCB1{}, Budget: evolve.Budget{Calls: 30}, Journal: j})
		}
		res, err := run()
		if err == nil || res.Stop != evolve.StopError || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "Breadth evolve.BreadthFunc") {
			t.Errorf("%s: stopped by %s: %v, want %q", tt.reason, res.Stop, err, tt.want)
			continue
		}
		if n := len(records(t, path, journal.Completion)); res.Calls < 5 || res.Calls != n || n != granted(res) {
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
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, Breadth: evolve.BreadthFunc(func([]evolve.Made) int { return 0 })})
	for range 2 {
		if gen, err := g.Step(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "asks for 0 children in step 1") || !gen.Partial {
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
		gen, err := g.Step(t.Context(), evolve.NewTurn(3))
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
		saw[i].Elapsed = 0
	}
	if !slices.Equal(saw, want) || len(saw) != 40 {
		t.Errorf("the breadth saw %+v, want %+v", saw, want)
	}
	if !slices.ContainsFunc(want, func(m evolve.Made) bool { return m.Better > 0 }) {
		t.Error("no step had a better child: the test sees nothing")
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
		for _, b := range []evolve.Breadth{evolve.Fixed(7), evolve.Doubling{}, evolve.Adaptive{}} {
			list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, Seed: 40, Breadth: b}, 4)
			if err != nil {
				t.Fatal(err)
			}
			res := mustRun(t, evolve.Config{Arms: list, Policy: &bandit.UCB1{}, InFlight: inFlight, Budget: evolve.Budget{Calls: 230}})
			if res.Calls != 230 || res.Limit != "Calls" || granted(res) != 230 {
				t.Errorf("%v, %d in flight: %d calls, %d granted, stopped by %s", b, inFlight, res.Calls, granted(res), res.Limit)
			}
		}
	}
}

// A journal belongs to the breadth that each arm had when it was begun.
func TestJournalOfArmsThatDifferInBreadth(t *testing.T) {
	one, two := evolve.Fixed(2), evolve.Doubling{}
	for _, tt := range []struct {
		reason    string
		then, now []evolve.Breadth
		same      bool
	}{
		{"the same again", []evolve.Breadth{one, two, one}, []evolve.Breadth{one, two, one}, true},
		{"an arm has another's", []evolve.Breadth{one, two, one}, []evolve.Breadth{one, two, two}, false},
		{"two arms exchanged theirs", []evolve.Breadth{one, two}, []evolve.Breadth{two, one}, false},
		{"one has none any more", []evolve.Breadth{one, one}, []evolve.Breadth{one, nil}, false},
	} {
		path := journalPath(t)
		var err error
		for _, list := range [][]evolve.Breadth{tt.then, tt.now} {
			var arms []evolve.Arm
			for i, b := range list {
				arms = append(arms, newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, N: 2, Seed: uint32(i), Breadth: b}))
			}
			target := -1.0 // reached from the start: no draw is compared
			j := openJournal(t, path)
			_, err = evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, Budget: evolve.Budget{Target: &target}, Journal: j})
			j.Close()
		}
		if tt.same && err != nil || !tt.same && (!errors.Is(err, journal.ErrDiverged) || !strings.Contains(err.Error(), "breadth")) {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}

// A journal belongs to the breadth with which it was begun.
func TestJournalOfAnotherBreadth(t *testing.T) {
	nested := func(list []evolve.Arm) []evolve.Arm {
		al, err := evolve.NewAllocator(evolve.Config{Arms: list, Policy: &bandit.UCB1{}})
		if err != nil {
			t.Fatal(err)
		}
		return []evolve.Arm{al}
	}
	plain := func(list []evolve.Arm) []evolve.Arm { return list }
	for _, tt := range []struct {
		reason    string
		then, now evolve.Breadth
		in        func([]evolve.Arm) []evolve.Arm
		same      bool
	}{
		{"the same again", evolve.Adaptive{}, evolve.Adaptive{Waste: 0.3}, plain, true},
		{"another value of time", evolve.Adaptive{}, evolve.Adaptive{Second: 1}, plain, false},
		{"another kind that begins alike", evolve.Adaptive{}, evolve.Doubling{}, plain, false},
		{"none then", nil, evolve.Fixed(evolve.DefaultN), plain, false},
		{"none now", evolve.Fixed(evolve.DefaultN), nil, plain, false},
		{"within an allocator", evolve.Doubling{}, evolve.Doubling{Up: 3}, nested, false},
	} {
		path := journalPath(t)
		var err error
		for _, b := range []evolve.Breadth{tt.then, tt.now} {
			list, bad := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: climber, Breadth: b}, 2)
			if bad != nil {
				t.Fatal(bad)
			}
			target := -1.0 // reached from the start: no draw is compared
			j := openJournal(t, path)
			_, err = evolve.Run(t.Context(), evolve.Config{Arms: tt.in(list), Policy: &bandit.UCB1{}, Budget: evolve.Budget{Target: &target}, Journal: j})
			j.Close()
		}
		if tt.same && err != nil || !tt.same && (!errors.Is(err, journal.ErrDiverged) || !strings.Contains(err.Error(), "breadth")) {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}
