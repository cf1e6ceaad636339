package sim

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
)

// script is a policy that pulls given arms in turn, and notes what it hears and when.
type script struct {
	arms  []int
	heard []bandit.Pull
	news  []float64
	draws []int // number of draws before each outcome
	t     int
}

func (s *script) Probs(p []float64, r bandit.Round) {
	clear(p)
	s.t = r.T + 1
	p[s.arms[r.T]] = 1
}

func (s *script) Update(pull bandit.Pull, reward float64) {
	s.heard, s.news, s.draws = append(s.heard, pull), append(s.news, reward), append(s.draws, s.t)
}

// ucb1 is UCB1 in a few lines: a policy that does not change when package bandit does.
type ucb1 struct{ bandit.Tally }

func (u *ucb1) Probs(p []float64, r bandit.Round) { bandit.OneHot(p, r.Open, u.index) }

func (u *ucb1) index(arm int) float64 { return u.Mean(arm) + 1/(1+u.Pulls(arm)) }

func (u *ucb1) Update(pull bandit.Pull, reward float64) { u.Add(pull.Arm, reward) }

// even pulls the open arms with equal chances.
type even struct{}

func (even) Probs(p []float64, r bandit.Round) {
	n := 0.0
	for _, open := range r.Open {
		if open {
			n++
		}
	}
	for arm, open := range r.Open {
		p[arm] = 0
		if open {
			p[arm] = 1 / n
		}
	}
}

func (even) Update(bandit.Pull, float64) {}

var threeArms = [][]float64{
	{0.1, 0.2, 0.3, 0.4},
	{0.1, 0.1, 0.9},
	{0.1, 0.5},
}

func TestPlayByHand(t *testing.T) {
	p := &script{arms: []int{0, 2, 1, 0, 1}}
	got, err := Play(p, threeArms, PlayConfig{Rounds: 5})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 2, 1, 0, 1}; !slices.Equal(got.Selections, want) {
		t.Errorf("selections %v, want %v", got.Selections, want)
	}
	if want := []float64{0.2, 0.5, 0.1, 0.3, 0.9}; !slices.Equal(got.Rewards, want) || !slices.Equal(p.news, want) {
		t.Errorf("rewards %v, the policy heard %v, want %v", got.Rewards, p.news, want)
	}
	if want := []float64{0.1, 0.2, 0.5, 0.5, 0.5, 0.9}; !slices.Equal(got.Best, want) {
		t.Errorf("best %v, want %v", got.Best, want)
	}
	if want := []float64{1, 1, 1, 1, 1}; !slices.Equal(got.Propensities, want) {
		t.Errorf("propensities %v, want %v", got.Propensities, want)
	}
}

// The arms have six pulls between them; the run ends after those.
func TestArmsClose(t *testing.T) {
	got, err := Play(even{}, threeArms, PlayConfig{Rounds: 50, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	sorted := slices.Sorted(slices.Values(got.Selections))
	if want := []int{0, 0, 0, 1, 1, 2}; !slices.Equal(sorted, want) {
		t.Errorf("pulled %v, want %v in some order", got.Selections, want)
	}
	if got.Best[6] != 0.9 || len(got.Best) != 7 {
		t.Errorf("best %v, want 0.9 after 6 pulls, and no more", got.Best)
	}
}

// With three pending the policy draws three times before it hears anything, each arm at most once, and
// outcomes come as pulls end, not as they were drawn.
func TestPullsInFlight(t *testing.T) {
	long := [][]float64{make([]float64, 9), make([]float64, 9), make([]float64, 9)}
	delays := []float64{3, 1, 5, 1, 10, 10} // the second lands first, and so on
	i := 0
	p := &script{arms: []int{0, 1, 2, 1, 1, 0}}
	_, err := Play(p, long, PlayConfig{Rounds: 6, InFlight: 3,
		Delay: func(*rand.Rand) float64 { i++; return delays[i-1] }})
	if err != nil {
		t.Fatal(err)
	}
	var ids []int
	for _, pull := range p.heard {
		ids = append(ids, pull.ID)
	}
	if want := []int{1, 3, 0, 2, 4, 5}; !slices.Equal(ids, want) {
		t.Errorf("heard of pulls %v, want %v", ids, want)
	}
	if want := []int{3, 4, 5, 6, 6, 6}; !slices.Equal(p.draws, want) {
		t.Errorf("draws made by then %v, want %v", p.draws, want)
	}
}

func TestOnePullPerArmInFlight(t *testing.T) {
	p := &watch{}
	if _, err := Play(p, Arms(Named("ideas"), 1, 4, 1, 100),
		PlayConfig{Rounds: 100, InFlight: 9, Delay: (*rand.Rand).ExpFloat64}); err != nil {
		t.Fatal(err)
	}
	if p.most != 1 || p.waiting != 3 {
		t.Errorf("up to %d pulls of an arm and %d of all pending at a draw, want 1 and 3", p.most, p.waiting)
	}
}

// watch is even, and notes the most pulls pending.
type watch struct {
	even
	most, waiting int
}

func (w *watch) Probs(p []float64, r bandit.Round) {
	sum := 0
	for arm, n := range r.Pending {
		sum += n
		w.most = max(w.most, n)
		if n > 0 && r.Open[arm] {
			w.most = 99
		}
	}
	w.waiting = max(w.waiting, sum)
	w.even.Probs(p, r)
}

func TestPlayIsRepeatable(t *testing.T) {
	arms := Arms(Named("heavy-tail"), 5, 6, 1, 80)
	cfg := PlayConfig{Rounds: 80, Seed: 9, InFlight: 3, Delay: (*rand.Rand).ExpFloat64}
	a, err := Play(even{}, arms, cfg)
	b, err2 := Play(even{}, arms, cfg)
	cfg.Seed++
	c, err3 := Play(even{}, arms, cfg)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Selections, b.Selections) || !slices.Equal(a.Best, b.Best) {
		t.Error("equal seeds, different runs")
	}
	if slices.Equal(a.Selections, c.Selections) {
		t.Error("different seeds, equal selections")
	}
}

// noted is a policy that writes down what it is told.
type noted struct {
	turns
	calls [][]int
	pulls []bandit.Pull
}

func (n *noted) Probs(p []float64, r bandit.Round) {
	n.calls = append(n.calls, slices.Clone(r.Calls))
	n.turns.Probs(p, r)
}

func (n *noted) Update(pull bandit.Pull, _ float64) { n.pulls = append(n.pulls, pull) }

// The policy is told of pulls of N calls, or of none.
func TestPlayTellsCalls(t *testing.T) {
	for n, want := range map[int][]int{0: nil, 1: {1, 1, 1}, 64: {64, 64, 64}} {
		p := &noted{}
		if _, err := Play(p, threeArms, PlayConfig{Rounds: 3, N: n}); err != nil {
			t.Fatal(err)
		}
		for i, calls := range p.calls {
			if !slices.Equal(calls, want) || p.pulls[i].Calls != n {
				t.Errorf("N=%d: draw %d is told of %v calls, want %v, and makes %d", n, i, calls, want, p.pulls[i].Calls)
			}
		}
		if len(p.pulls) != 3 {
			t.Errorf("N=%d: %d pulls, want 3", n, len(p.pulls))
		}
	}
}

func TestPlayErrors(t *testing.T) {
	for _, c := range []struct {
		why  string
		arms [][]float64
		cfg  PlayConfig
		want string
	}{
		{"no round", threeArms, PlayConfig{}, "sim: Play of 0 rounds"},
		{"negative pending pulls", threeArms, PlayConfig{Rounds: 1, InFlight: -1}, "sim: Play with -1 pulls pending"},
		{"pulls of less than nothing", threeArms, PlayConfig{Rounds: 1, N: -1}, "sim: Play of pulls of -1 calls"},
		{"no arm", nil, PlayConfig{Rounds: 1}, "sim: Play without arms"},
		{"an arm without a start", [][]float64{{0}, {}}, PlayConfig{Rounds: 1}, "sim: arm 1 has no score"},
		{"a policy that pulls a closed arm", [][]float64{{0, 1}, {0}}, PlayConfig{Rounds: 1}, "bandit: "},
	} {
		if _, err := Play(&script{arms: []int{1}}, c.arms, c.cfg); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
}

// The oracle against every way to split t pulls over three arms.
func TestOracleIsTheBestSplit(t *testing.T) {
	for seed := range uint64(20) {
		const rounds = 12
		arms := Arms(Named("ideas"), seed, 3, 1, rounds)
		oracle := Oracle(arms, rounds)
		for n := range rounds + 1 {
			best := 0.0
			for a := range n + 1 {
				for b := range n - a + 1 {
					best = max(best, arms[0][a], arms[1][b], arms[2][n-a-b])
				}
			}
			if oracle[n] != best {
				t.Errorf("seed %d, %d pulls: oracle %v, the best split %v", seed, n, oracle[n], best)
			}
		}
	}
}

// BenchmarkPlay plays policies over ten arms; it reports pulls per second of one core.
func BenchmarkPlay(b *testing.B) {
	arms := Arms(Named("heavy-tail"), 1, 10, 1, 512)
	for _, bench := range []struct {
		name  string
		fresh func() bandit.Policy
	}{
		{"UCB1", func() bandit.Policy { return &bandit.UCB1{} }},
		{"GaussianThompson", func() bandit.Policy { return &bandit.GaussianThompson{} }},
		{"ExpectedImprovement", func() bandit.Policy { return &bandit.ExpectedImprovement{T: 512} }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			pulls := 0
			for b.Loop() {
				got, err := Play(bench.fresh(), arms, PlayConfig{Rounds: 512, Seed: uint64(pulls)})
				if err != nil {
					b.Fatal(err)
				}
				pulls += len(got.Selections)
			}
			b.ReportMetric(float64(pulls)/b.Elapsed().Seconds(), "pulls/s")
		})
	}
}
