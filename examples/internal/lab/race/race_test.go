package race

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
)

// tape is a search whose children have the scores of a list, and which writes down what is asked of it: "+2" makes child
// 2, "-2" takes it in.
type tape struct {
	scores []float64
	best   float64
	made   int
	log    *[]string
}

func (s *tape) Best() float64 { return s.best }

func (s *tape) Step(n int) (better int) {
	before := s.best
	for range n {
		if s.Take(s.Child()) > before {
			better++
		}
	}
	return better
}

func (s *tape) Child() Child {
	s.made++
	s.write(fmt.Sprintf("+%d", s.made))
	return Child{score: float64(s.made)}
}

func (s *tape) Take(c Child) float64 {
	s.write(fmt.Sprintf("-%v", c.score))
	score := s.scores[int(c.score)-1]
	s.best = max(s.best, score)
	return score
}

func (s *tape) write(what string) {
	if s.log != nil {
		*s.log = append(*s.log, what)
	}
}

func newTape(scores ...float64) *tape { return &tape{scores: scores} }

// times returns the latencies of a list, one after the other.
func times(list ...float64) func(*rand.Rand) float64 {
	i := -1
	return func(*rand.Rand) float64 { i++; return list[i] }
}

func runRace(t *testing.T, p bandit.Policy, searches []Search, cfg Config) Record {
	t.Helper()
	r, err := Run(p, searches, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// When steps begin and end, worked out by hand.
func TestRaceTimesByHand(t *testing.T) {
	rising := of(20, func(i int) float64 { return float64(i+1) / 100 })
	for _, c := range []struct {
		why      string
		searches int
		cfg      Config
		want     []Step // without scores
	}{
		{"every child takes a second, and all of a step are made at once", 1, Config{Calls: 8, Breadth: breadth.Fixed(4)},
			[]Step{{0, 4, 0, 0, 1}, {0, 4, 0, 1, 2}}},
		{"two slots: two rounds to a step of four", 1, Config{Calls: 8, Breadth: breadth.Fixed(4), Slots: 2},
			[]Step{{0, 4, 0, 0, 2}, {0, 4, 0, 2, 4}}},
		{"a step ends with its slowest child", 1, Config{Calls: 4, Breadth: breadth.Fixed(4), Latency: times(1, 3, 1, 2)},
			[]Step{{0, 4, 0, 0, 3}}},
		{"in two slots: until 3, until 1, then 1 to 2 and 2 to 4", 1,
			Config{Calls: 4, Breadth: breadth.Fixed(4), Slots: 2, Latency: times(3, 1, 1, 2)},
			[]Step{{0, 4, 0, 0, 4}}},
		{"the last step is as wide as the budget allows", 1, Config{Calls: 5, Breadth: breadth.Fixed(3)},
			[]Step{{0, 3, 0, 0, 1}, {0, 2, 0, 1, 2}}},
		{"two pulls in three slots: the second waits with one child; of equals the first drawn is first", 2,
			Config{Calls: 6, Breadth: breadth.Fixed(2), InFlight: 2, Slots: 3},
			[]Step{{0, 2, 0, 0, 1}, {1, 2, 0, 0, 2}, {0, 2, 0, 1, 2}}},
		{"each search has its own breadth, and the last step what is left", 2,
			Config{Calls: 8, Breadths: []evolve.Breadth{breadth.Fixed(1), breadth.Fixed(3)}, Slots: 1},
			[]Step{{0, 1, 0, 0, 1}, {1, 3, 0, 1, 4}, {0, 1, 0, 4, 5}, {1, 3, 0, 5, 8}}},
		{"more pulls than searches cannot be pending", 1, Config{Calls: 2, InFlight: 3},
			[]Step{{0, 1, 0, 0, 1}, {0, 1, 0, 1, 2}}},
		{"a window of two: until 3, until 1, 1 to 2, 2 to 4", 1,
			Config{Calls: 4, Breadth: breadth.Fixed(4), Window: 2, Latency: times(3, 1, 1, 2)},
			[]Step{{0, 4, 0, 0, 4}}},
		{"a window of one is one child after the other", 1,
			Config{Calls: 4, Breadth: breadth.Fixed(4), Window: 1, Latency: times(3, 1, 1, 2)},
			[]Step{{0, 4, 0, 0, 7}}},
		{"a window that the slots cannot fill", 1, Config{Calls: 4, Breadth: breadth.Fixed(4), Window: 3, Slots: 1},
			[]Step{{0, 4, 0, 0, 4}}},
		{"a window as wide as the step changes nothing", 1,
			Config{Calls: 4, Breadth: breadth.Fixed(4), Window: 4, Latency: times(3, 1, 1, 2)},
			[]Step{{0, 4, 0, 0, 3}}},
	} {
		searches := make([]Search, c.searches)
		for i := range searches {
			searches[i] = newTape(rising...)
		}
		r := runRace(t, &turns{}, searches, c.cfg)
		for i := range r.Steps {
			r.Steps[i].Score = 0
		}
		if end := c.want[len(c.want)-1].Ended; !slices.Equal(r.Steps, c.want) || r.Seconds != end {
			t.Errorf("%s: %v in %v s, want %v", c.why, r.Steps, r.Seconds, c.want)
		}
	}
}

// In a window the next child is made when one has ended and was taken in, in the order in which they end.
func TestRaceWindow(t *testing.T) {
	var log []string
	var past []evolve.Made
	breadth := evolve.BreadthFunc(func(p []evolve.Made) int { past = slices.Clone(p); return 5 })
	s := &tape{scores: []float64{0.4, 0.1, 0.3, 0.2, 0.5, 0.3, 0.6}, best: 0.15, log: &log}
	r := runRace(t, &turns{}, []Search{s}, Config{Calls: 6, Breadth: breadth, Window: 2, Latency: times(3, 1, 1, 2, 2, 1)})
	// Child 1 ends at 3, 2 at 1, 3 at 2, 4 at 4, 5 at 5.
	if got, want := strings.Join(log, " "), "+1 +2 -2 +3 -3 +4 -1 +5 -4 -5 +6 -6"; got != want {
		t.Errorf("made and taken in: %s, want %s", got, want)
	}
	// All but child 2 are better than the 0.15 that the step began with, though not all than the best of their time.
	if want := []evolve.Made{{Children: 5, Better: 4, Elapsed: 5 * time.Second}}; !slices.Equal(past, want) {
		t.Errorf("the breadth is told of %v, want %v", past, want)
	}
	if want := []float64{0.15, 0.15, 0.15, 0.15, 0.15, 0.5, 0.5}; !slices.Equal(r.Best, want) {
		t.Errorf("best scores %v, want %v: a step's is known when it has ended", r.Best, want)
	}
}

// A wide step with a window of one is as good as as many steps of one child.
func TestWindowOfOneIsNarrowSteps(t *testing.T) {
	for _, f := range []Stepper{HillClimb{Objective: "ht", Few: true}, Landscape{Kind: "tsp"},
		formulas("staircase")[0].(Stepper)} {
		at := func(cfg Config) float64 {
			cfg.Calls = 128
			return runRace(t, bandit.Random{}, []Search{f.Search(sim.Address{Seed: 3})}, cfg).Best[128]
		}
		if wide, narrow := at(Config{Breadth: breadth.Fixed(32), Window: 1}), at(Config{}); wide != narrow {
			t.Errorf("%v: %v in steps of 32 with a window of 1, %v in steps of 1", f, wide, narrow)
		}
	}
}

// noted is a policy that writes down what it is told.
type noted struct {
	turns
	calls   [][]int
	pending [][]int
	pulls   []bandit.Pull
}

func (n *noted) Probs(p []float64, r bandit.Round) {
	n.calls, n.pending = append(n.calls, slices.Clone(r.Calls)), append(n.pending, slices.Clone(r.Pending))
	n.turns.Probs(p, r)
}

func (n *noted) Update(pull bandit.Pull, _ float64) { n.pulls = append(n.pulls, pull) }

// The policy is told the calls of the pending pulls, of the next ones, and at the end those that are left.
func TestRaceTellsCalls(t *testing.T) {
	widths := map[int]int{0: 2, 1: 5, 2: 9} // by number of steps
	breadth := evolve.BreadthFunc(func(past []evolve.Made) int { return widths[len(past)] })
	p := &noted{}
	rising := of(20, func(i int) float64 { return float64(i) })
	runRace(t, p, []Search{newTape(rising...), newTape(rising...)},
		Config{Calls: 15, Breadth: breadth, InFlight: 2, Latency: func(*rand.Rand) float64 { return 1 }})
	// Both arms make 2 and then 5; the third pull of arm 0 would be of 9, and one call is left.
	if want := [][]int{{2, 2}, {2, 2}, {5, 2}, {5, 5}, {1, 5}}; !reflect.DeepEqual(p.calls, want) {
		t.Errorf("told of %v calls, want %v", p.calls, want)
	}
	if want := [][]int{{0, 0}, {1, 0}, {0, 1}, {1, 0}, {0, 1}}; !reflect.DeepEqual(p.pending, want) {
		t.Errorf("told of %v pending, want %v", p.pending, want)
	}
	total := 0
	for _, pull := range p.pulls {
		total += pull.Calls
	}
	if total != 15 || len(p.pulls) != 5 {
		t.Errorf("the policy hears of %d calls in %d pulls, want 15 in 5", total, len(p.pulls))
	}
}

// A Breadth sees of each search what evolve shows it: the children, how many are better, and the time.
func TestRaceBreadthSees(t *testing.T) {
	var seen [][]evolve.Made
	breadth := evolve.BreadthFunc(func(past []evolve.Made) int { seen = append(seen, slices.Clone(past)); return 2 })
	runRace(t, &turns{}, []Search{newTape(0.1, 0.2, 0.1, 0.3), newTape(0, 0, 0, 0.5)},
		Config{Calls: 6, Breadth: breadth, Latency: times(1, 2, 3.0004, 1, 1, 1)})
	first, second := evolve.Made{Children: 2, Better: 2, Elapsed: 2 * time.Second},
		evolve.Made{Children: 2, Better: 0, Elapsed: 3 * time.Second}
	want := [][]evolve.Made{nil, nil, {first}, nil, {first}, {second}} // both are asked before each of three draws
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("seen %v, want %v", seen, want)
	}
}

func searchesOf(f Stepper, seed uint64, k int) []Search {
	all := make([]Search, k)
	for i := range all {
		all[i] = f.Search(sim.Address{Seed: seed, Index: i})
	}
	return all
}

func contested() map[string]func() bandit.Policy {
	return map[string]func() bandit.Policy{
		"ei":       func() bandit.Policy { return &bandit.ExpectedImprovement{T: 240} },
		"ucb":      func() bandit.Policy { return &bandit.UCB1{} },
		"thompson": func() bandit.Policy { return &bandit.GaussianThompson{} },
	}
}

// With steps of one width a race is what Play plays over the arms, with one pull pending and with several.
func TestRaceIsPlay(t *testing.T) {
	for _, f := range []Stepper{HillClimb{Objective: "mmd"}, Landscape{Kind: "labs"}, formulas("draws")[0].(Stepper)} {
		for name, fresh := range contested() {
			for _, inFlight := range []int{1, 3} {
				raced := runRace(t, fresh(), searchesOf(f, 11, 4),
					Config{Calls: 240, Seed: 11, Breadth: breadth.Fixed(4), InFlight: inFlight})
				played, err := sim.Play(fresh(), sim.Arms(f, 11, 4, 4, 60),
					sim.PlayConfig{Rounds: 60, Seed: 11, N: 4, InFlight: inFlight})
				if err != nil {
					t.Fatal(err)
				}
				for n, best := range played.Best {
					if raced.Best[4*n] != best {
						t.Fatalf("%s over %v, %d pending: %v after %d steps, Play has %v", name, f, inFlight, raced.Best[4*n], n, best)
					}
				}
				if raced.Seconds > 60 || inFlight == 1 && raced.Seconds != 60 {
					t.Errorf("%s over %v, %d pending: 60 steps of a second take %v s", name, f, inFlight, raced.Seconds)
				}
			}
		}
	}
}

// Equal arguments give equal races. All of the budget is used, and no more; what is recorded fits together.
func TestRaceRerun(t *testing.T) {
	latency := func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) }
	for _, b := range []evolve.Breadth{nil, breadth.Fixed(7), breadth.Adaptive{Second: 3}} {
		for name, fresh := range contested() {
			for _, window := range []int{0, 3} {
				cfg := Config{Calls: 230, Seed: 5, Breadth: b, InFlight: 3, Slots: 5, Window: window, Latency: latency}
				one := runRace(t, fresh(), searchesOf(Landscape{Kind: "knapsack"}, 5, 6), cfg)
				if again := runRace(t, fresh(), searchesOf(Landscape{Kind: "knapsack"}, 5, 6), cfg); !reflect.DeepEqual(one,
					again) {
					t.Errorf("%s, %v, window %d: a rerun differs", name, b, window)
				}
				checkRaced(t, one, cfg)
			}
		}
	}
}

func checkRaced(t *testing.T, r Record, cfg Config) {
	t.Helper()
	children, last := 0, 0.0
	for i, s := range r.Steps {
		children += s.Children
		if s.Ended < last || s.Began >= s.Ended || s.Score > r.Best[children] {
			t.Errorf("step %d: %+v after one that ended at %v, best %v", i, s, last, r.Best[children])
		}
		last = s.Ended
	}
	if children != cfg.Calls || len(r.Best) != cfg.Calls+1 || r.Seconds != last || !slices.IsSorted(r.Best) {
		t.Errorf("%d children of %d, %d scores, %v s of %v", children, cfg.Calls, len(r.Best), r.Seconds, last)
	}
}

func TestRaceErrors(t *testing.T) {
	for _, c := range []struct {
		why    string
		policy bandit.Policy
		k      int
		cfg    Config
		want   string
	}{
		{"no calls", &turns{}, 1, Config{}, "race: Run of 0 calls: need at least 1"},
		{"negative pending pulls", &turns{}, 1, Config{Calls: 1, InFlight: -1}, "race: Run with -1 pulls pending at once"},
		{"negative slots", &turns{}, 1, Config{Calls: 1, Slots: -1}, "race: Run with -1 slots"},
		{"a negative window", &turns{}, 1, Config{Calls: 1, Window: -1}, "race: Run with a window of -1 children"},
		{"nothing to pull", &turns{}, 0, Config{Calls: 1}, "race: Run without searches"},
		{"a breadth of nothing", &turns{}, 1, Config{Calls: 1, Breadth: breadth.Fixed(0)},
			"race: Breadth Fixed(0) asks for 0 children"},
		{"breadths for other searches", &turns{}, 1, Config{Calls: 1,
			Breadths: []evolve.Breadth{breadth.Fixed(1), breadth.Fixed(2)}}, "race: Run of 1 searches with 2 breadths"},
		{"a search's breadth of nothing", &turns{}, 1, Config{Calls: 1, Breadths: []evolve.Breadth{breadth.Fixed(0)}},
			"race: Breadth Fixed(0) asks for 0 children"},
		{"a policy at fault", &nothing{}, 1, Config{Calls: 1}, "bandit: "},
	} {
		if _, err := Run(c.policy, searchesOf(formulas("draws")[0].(Stepper), 1, c.k), c.cfg); err == nil ||
			!strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
}
