package bandit_test

import (
	"math"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

func TestChallengeHolds(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &bandit.Challenge{} })
	bandittest.Run(t, func() bandit.Policy { return &bandit.Challenge{T: 2000} })
}

// rising returns an arm's scores after 0 to n pulls: 0.1, and a tenth more after each pull in rises.
func rising(n int, rises ...int) []float64 {
	scores := []float64{0.1}
	for pull := 1; pull <= n; pull++ {
		score := scores[pull-1]
		if slices.Contains(rises, pull) {
			score += 0.1
		}
		scores = append(scores, score)
	}
	return scores
}

// taught returns a policy that has heard of these pulls of each arm.
func taught(horizon int, arms ...[]float64) *bandit.Challenge {
	p := &bandit.Challenge{T: horizon}
	for arm, scores := range arms {
		for _, score := range scores[1:] {
			p.Update(outcome(arm), score)
		}
	}
	return p
}

// Shares of the challengers were worked out with a calculator.
func TestChallengeByHand(t *testing.T) {
	steady := make([]int, 110) // every pull is a gain
	for i := range steady {
		steady[i] = i + 1
	}
	for _, tt := range []struct {
		reason  string
		horizon int
		arms    [][]float64
		open    []bool // nil means all
		want    int
	}{
		{"nothing is known: the lowest arm", 1000, [][]float64{{0}, {0}}, nil, 0},
		{"a silent leader is not challenged before 32 calls", 1000, [][]float64{rising(31, 2), {0}}, nil, 0},
		{"then it is: a = ln(1 − 0.075/1.075)/ln 0.4 = 0.0789, φ = 0.12, and x + c = 1 ≤ 0.12·33", 1000,
			[][]float64{rising(32, 2), {0}}, nil, 1},
		{"one that never gained is not before 256 calls", 1000, [][]float64{rising(255), {0}}, nil, 0},
		{"then it is", 1000, [][]float64{rising(256), {0}}, nil, 1},
		{"or half of them", 200, [][]float64{rising(99), {0}}, nil, 0},
		{"which are 100 of 200", 200, [][]float64{rising(100), {0}}, nil, 1},
		{"a run of 95 calls has one arm", 95, [][]float64{rising(90, 2), {0}}, nil, 0},
		{"one of 96 has two", 96, [][]float64{rising(90, 2), {0}}, nil, 1},
		{"and no third", 96, [][]float64{rising(90, 2), rising(1), {0}}, nil, 1},
		{"φ·(100 + 10 + 1) = 13.3, and 11 ≤ 13.3", 1000, [][]float64{rising(100, 2), rising(10), {0}}, nil, 2},
		{"φ·(100 + 13 + 1) = 13.6 < 14", 1000, [][]float64{rising(100, 2), rising(13), {0}}, nil, 0},
		{"a steady leader spares 1 %: 0.0098·111 = 1.1, so one call", 1000, [][]float64{rising(110, steady...), {0}}, nil, 1},
		{"and not a second one", 1000, [][]float64{rising(110, steady...), rising(1), {0}}, nil, 0},
		{"of challengers of one age the one that was ahead has its turn", 192,
			[][]float64{rising(100, 2, 3, 4), rising(5), rising(5, 3)}, nil, 2},
		{"of two that got equally far the one that still rises", 192,
			[][]float64{rising(100, 2, 3, 4), rising(10, 2), rising(10, 9)}, nil, 2},
		{"a closed leader without a pending pull does not count", 1000,
			[][]float64{rising(100, 2, 3), rising(70, 60), {0}}, []bool{false, true, true}, 1},
		{"where no arm but the leader is open, it goes on", 1000,
			[][]float64{rising(100, 2), rising(3)}, []bool{true, false}, 0},
	} {
		p := taught(tt.horizon, tt.arms...)
		open := tt.open
		if open == nil {
			open = all(len(tt.arms))
		}
		probs := ask(p, open)
		if got := slices.Index(probs, 1); got != tt.want {
			t.Errorf("%s: arm %d, want %d", tt.reason, got, tt.want)
		}
	}
}

// Worked out in the same way for the constants that all had before there was a choice.
func TestChallengeCautious(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		horizon int
		arms    [][]float64
		want    int
	}{
		{"a silent leader is not challenged before 64 calls", 1000, [][]float64{rising(63, 2), {0}}, 0},
		{"then it is: φ = 0.174, and x + c = 1 ≤ 0.174·65", 1000, [][]float64{rising(64, 2), {0}}, 1},
		{"a run of 128 calls has one arm", 128, [][]float64{rising(100, 2), {0}}, 0},
		{"one of 129 has two", 129, [][]float64{rising(100, 2), {0}}, 1},
		{"and no third", 129, [][]float64{rising(100, 2), rising(1), {0}}, 1},
		{"φ·(100 + 16 + 1) = 20.4, and 17 ≤ 20.4", 1000, [][]float64{rising(100, 2), rising(16), {0}}, 2},
		{"φ·(100 + 21 + 1) = 21.2 < 22", 1000, [][]float64{rising(100, 2), rising(21), {0}}, 0},
	} {
		p := taught(tt.horizon, tt.arms...)
		p.Cautious = true
		if probs := ask(p, all(len(tt.arms))); probs[tt.want] != 1 {
			t.Errorf("%s: %v, want arm %d", tt.reason, probs, tt.want)
		}
	}
}

// Of many arms the challenger is the one that the formula has, although not every arm is compared with every other one.
func TestChallengeTurns(t *testing.T) {
	const arms, low = 40, 0.1
	for seed := range uint64(20) {
		r := newRand(seed)
		courses := [][]float64{rising(61, 1, 2, 3, 4, 5, 6, 7, 8, 9)} // the leader's, with a score after 0, 1, ... pulls
		for range arms - 1 {
			var rises []int
			for pull := 1; pull <= 60 && len(rises) < 8; pull++ {
				if r.IntN(8) == 0 {
					rises = append(rises, pull)
				}
			}
			courses = append(courses, rising(1+r.IntN(60), rises...))
		}
		courses[arms-1] = rising(1) // and so low is the lowest score
		want, least := -1, math.Inf(1)
		for arm := 1; arm < arms; arm++ {
			ahead, age := 0, len(courses[arm])-1
			for other, c := range courses {
				if other != arm && len(c) > age && c[age] > courses[arm][age] {
					ahead++
				}
			}
			turn := float64(age) * math.Sqrt(1+float64(ahead)) / (1 + min(growth(courses[arm], low), 1))
			if turn < least {
				want, least = arm, turn
			}
		}
		open := all(arms)
		open[0] = false
		pending := make([]int, arms)
		pending[0] = 1
		if probs := askPending(taught(1<<20, courses...), open, pending); probs[want] != 1 {
			t.Errorf("seed %d: arm %d is pulled, want %d", seed, slices.Index(probs, 1), want)
		}
	}
}

// growth is a of the comment, of an arm with a score after 0, 1, ... pulls.
func growth(course []float64, low float64) float64 {
	n, rose := len(course)-1, 0
	for i := range n {
		if course[i+1] > course[i] {
			rose++
		}
	}
	gain := course[n] - low
	if gain <= 0 {
		return 0
	}
	doubt := 0.15 * gain / float64(rose+1)
	return math.Log(1-(course[n]-course[int(0.4*float64(n))]+doubt)/(gain+doubt)) / math.Log(0.4)
}

// Ever smaller gains do not keep the others away, as they would if silence counted from the last one.
func TestChallengeCountsGainsBySize(t *testing.T) {
	leader := []float64{0}
	for n := 1; n <= 200; n++ {
		leader = append(leader, 1-math.Exp(-float64(n)/8))
	}
	if probs := ask(taught(2000, leader, []float64{0}), all(2)); probs[1] != 1 {
		t.Errorf("after 200 ever smaller gains: probabilities %v", probs)
	}
}

// While the leader's pull is pending, the others are pulled; a new one if it must be.
func TestChallengePending(t *testing.T) {
	p := taught(1000, rising(100, 2), rising(3), []float64{0})
	open := []bool{false, true, true}
	if probs := askPending(p, open, []int{1, 0, 0}); probs[2] != 1 {
		t.Errorf("with room for an arm: %v", probs)
	}
	p = taught(100, rising(100, 2), rising(3), []float64{0})
	if probs := askPending(p, open, []int{1, 0, 0}); probs[1] != 1 {
		t.Errorf("without room for an arm: %v", probs)
	}
	if probs := askPending(p, []bool{false, false, true}, []int{1, 1, 0}); probs[2] != 1 {
		t.Errorf("with nothing else open: %v", probs)
	}
}

// What is measured in calls does not depend on how many a pull makes, where there are at least four pulls.
func TestChallengeSizedPulls(t *testing.T) {
	p := &bandit.Challenge{T: 1000}
	probs := func() []float64 {
		probs := make([]float64, 2)
		p.Probs(probs, bandit.Round{Open: all(2), Pending: make([]int, 2), Calls: []int{16, 16}})
		return probs
	}
	for pull := range 10 {
		p.Update(bandit.Pull{Arm: 0, Prob: 1, Calls: 16}, []float64{0, 0.2}[min(pull, 1)])
	}
	if got := probs(); got[1] != 1 {
		t.Errorf("after 160 calls, 16 ≤ φ·176 = 21: %v", got)
	}
	p.Update(bandit.Pull{Arm: 1, Prob: 1, Calls: 16}, 0)
	if got := probs(); got[0] != 1 {
		t.Errorf("after 16 of a challenger, 32 > φ·192 = 23: %v", got)
	}
}

// A challenger whose calls cost a hundred times as much needs a hundred times the share, and has had that much after a
// call. Where it leads, it has had 64 calls of the cheapest after one of its own.
func TestChallengeCosts(t *testing.T) {
	probs := func(p *bandit.Challenge, costs ...float64) []float64 {
		probs := make([]float64, len(costs))
		p.Probs(probs, bandit.Round{Open: all(len(costs)), Pending: make([]int, len(costs)), Costs: costs})
		return probs
	}
	// φ = 0.12 after a gain in the second of many calls.
	p := taught(10000, rising(100, 2), []float64{0})
	if got := probs(p, 1, 1); got[1] != 1 {
		t.Errorf("1 ≤ φ·101: %v", got)
	}
	if got := probs(p, 1, 100); got[0] != 1 {
		t.Errorf("100 > φ·200 = 24: %v", got)
	}
	p = taught(10000, rising(800, 2), []float64{0})
	if got := probs(p, 1, 100); got[1] != 1 {
		t.Errorf("100 ≤ φ·900 = 108: %v", got)
	}
	if got := probs(taught(10000, rising(5, 2), []float64{0}), 100, 1); got[1] != 1 {
		t.Errorf("500 calls of the cheapest, of which 300 without a gain: %v", got)
	}
	if got := probs(taught(10000, rising(3, 2), []float64{0}), 100, 1); got[0] != 1 {
		t.Errorf("three pulls tell too little: %v", got)
	}
	// After equal costs the cheap arm is ahead: 0.3 after 2 calls, where one call of the other came to 0.2.
	p = taught(192, rising(100, 2, 3, 4), rising(2, 1), rising(4, 1, 2))
	if got := probs(p, 1, 2, 1); got[2] != 1 {
		t.Errorf("of two challengers that have cost the same, the one that is ahead is next: %v", got)
	}
}

func TestChallengeIsScaleFree(t *testing.T) {
	play := func(factor, shift float64) []int {
		return selections(t, &bandit.Challenge{T: 600}, 6, 600, func(v float64) float64 {
			return factor*math.Round(1024*v)/1024 + shift
		})
	}
	for _, scale := range [][2]float64{{1 << 20, -512}, {8, 2}, {1, -1}} {
		if !slices.Equal(play(1, 0), play(scale[0], scale[1])) {
			t.Errorf("scores times %v plus %v bring other pulls", scale[0], scale[1])
		}
	}
}

// Over 60 fixed seeds it ends far above one search where searches tune ideas of their own, and next to it where they
// differ by luck alone. The standard errors are 0.02 and 0.005.
func TestChallengeAgainstOneSearch(t *testing.T) {
	for _, tt := range []struct {
		family       string
		least, steps float64
	}{{"ideas", 0.3, 2048}, {"exchangeable", -0.03, 512}} {
		var above, room float64
		for seed := range uint64(60) {
			rounds := int(tt.steps)
			arms := sim.Arms(sim.Named(tt.family), seed, 10, 1, rounds)
			played, err := sim.Play(&bandit.Challenge{T: rounds}, arms, sim.PlayConfig{Rounds: rounds, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			above += played.Best[rounds] - arms[0][rounds]
			room += sim.Oracle(arms, rounds)[rounds] - arms[0][0]
		}
		if share := above / room; share < tt.least {
			t.Errorf("%s: %.3f of what there is to gain above one search, want at least %v", tt.family, share, tt.least)
		}
	}
}

func TestChallengeParameters(t *testing.T) {
	wantPanic(t, "a negative horizon", func() { ask(&bandit.Challenge{T: -1}, all(2)) }, "Challenge.T is -1")
	if got, want := (&bandit.Challenge{T: 9}).String(), "Challenge(T=9, ε=0.01)"; got != want {
		t.Errorf("prints as %q, want %q", got, want)
	}
}
