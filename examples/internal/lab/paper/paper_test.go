package paper

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/replay"
)

// trace is one recorded run of the paper's code.
type trace struct {
	K, T       int
	Seed       int64
	Algo       string
	Cap        *int
	Selections []int
	Raw        []int `json:"raw_select"`
}

func (c trace) config() Config {
	cfg := Config{Algo: c.Algo, Arms: c.K, Seed: c.Seed}
	if c.Cap != nil {
		cfg.Cap = *c.Cap
	}
	return cfg
}

func (c trace) String() string { return fmt.Sprintf("%+v T=%d", c.config(), c.T) }

// traces returns the recorded runs and, for each, what arm's best score is after n generations.
func traces(t *testing.T) ([]trace, func(c trace, arm, n int) float64) {
	var file struct {
		Cases        []trace
		Trajectories map[string][][]float64
	}
	readGolden(t, "selections.json.gz", &file)
	if len(file.Cases) != 80 {
		t.Fatalf("%d runs in the file, not 80", len(file.Cases))
	}
	return file.Cases, func(c trace, arm, n int) float64 {
		return file.Trajectories[fmt.Sprintf("%d_%d_%d", c.K, c.T, c.Seed)][arm][n]
	}
}

// Every recorded run is repeated: what was played, and what was chosen before the fallback.
func TestTraces(t *testing.T) {
	cases, score := traces(t)
	for _, c := range cases {
		a, err := New(c.config())
		if err != nil {
			t.Fatal(err)
		}
		pulls := make([]int, c.K)
		var arms, raw []int
		for range c.T {
			choice, err := a.Select()
			if errors.Is(err, bandit.ErrNoArm) {
				break
			}
			pulls[choice.Arm]++
			a.Update(choice.Arm, score(c, choice.Arm, pulls[choice.Arm]))
			arms, raw = append(arms, choice.Arm), append(raw, choice.Raw)
		}
		if !slices.Equal(arms, c.Selections) {
			t.Errorf("%v: selections\n%v, recorded\n%v", c, arms, c.Selections)
		}
		if !slices.Equal(raw, c.Raw) {
			t.Errorf("%v: choices before the fallback\n%v, recorded\n%v", c, raw, c.Raw)
		}
	}
}

// The same through a Player, which knows exhausted arms as closed ones.
func TestTracesAsPolicy(t *testing.T) {
	cases, score := traces(t)
	for _, c := range cases {
		cfg := c.config()
		cfg.Cap = 0
		p, err := NewPolicy(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := played(t, p, c, score); !slices.Equal(got, c.Selections) {
			t.Errorf("%v: selections\n%v, recorded\n%v", c, got, c.Selections)
		}
	}
}

// The same as a replay of the whole trajectories.
func TestTracesAreReplayed(t *testing.T) {
	cases, score := traces(t)
	for _, c := range cases {
		cfg, limit := c.config(), c.config().Cap
		cfg.Cap = 0
		p, err := NewPolicy(cfg)
		if err != nil {
			t.Fatal(err)
		}
		arms := make([]replay.Arm, c.K)
		for i := range arms {
			arms[i].Name = fmt.Sprint(i)
			for n := range c.T + 1 {
				arms[i].Best = append(arms[i].Best, score(c, i, n))
			}
		}
		played, err := replay.Play(p, arms, replay.Config{Rounds: c.T, Cap: limit})
		if err != nil || !slices.Equal(played.Selections, c.Selections) {
			t.Errorf("%v: %v\n%v, recorded\n%v", c, err, played.Selections, c.Selections)
		}
	}
}

func played(t *testing.T, p bandit.Policy, c trace, score func(c trace, arm, n int) float64) []int {
	player := bandit.NewPlayer(p, c.K, 99)
	pulls, open := make([]int, c.K), make([]bool, c.K)
	var arms []int
	for range c.T {
		for arm := range open {
			open[arm] = c.Cap == nil || pulls[arm] < *c.Cap
		}
		pull, err := player.Draw(open)
		if errors.Is(err, bandit.ErrNoArm) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		pulls[pull.Arm]++
		if err := player.Report(pull.ID, score(c, pull.Arm, pulls[pull.Arm])); err != nil {
			t.Fatal(err)
		}
		arms = append(arms, pull.Arm)
	}
	return arms
}

func TestConfigIsChecked(t *testing.T) {
	for _, c := range []struct {
		why  string
		cfg  Config
		want string
	}{
		{"an unknown name lists the known ones", Config{Algo: "ucb1", Arms: 2},
			`paper: unknown algorithm "ucb1": it is one of ucb, exp3p, thompson, random`},
		{"no arm", Config{Algo: UCB}, "paper: 0 arms"},
		{"a negative cap", Config{Algo: UCB, Arms: 1, Cap: -1}, "paper: a cap of -1"},
	} {
		_, err := New(c.cfg)
		_, err2 := NewPolicy(c.cfg)
		if err == nil || err2 == nil || !strings.HasPrefix(err.Error(), c.want) || err.Error() != err2.Error() {
			t.Errorf("%s: New %v, NewPolicy %v, want %s", c.why, err, err2, c.want)
		}
	}
}

func TestPolicyHasNoCap(t *testing.T) {
	if _, err := NewPolicy(Config{Algo: UCB, Arms: 2, Cap: 3}); err == nil || !strings.Contains(err.Error(), "cap of 3") {
		t.Errorf("a Policy with a cap: %v", err)
	}
}

// Asked twice for one draw, a Policy gives one answer and draws once.
func TestPolicyChoosesOncePerDraw(t *testing.T) {
	for _, algo := range Algos() {
		once, twice := draws(t, algo, 1), draws(t, algo, 2)
		if !slices.Equal(once, twice) {
			t.Errorf("%s: asked once %v, twice %v", algo, once, twice)
		}
	}
}

func draws(t *testing.T, algo string, asks int) []int {
	p, err := NewPolicy(Config{Algo: algo, Arms: 4, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	var arms []int
	probs := make([]float64, 4)
	for i := range 40 {
		for range asks {
			p.Probs(probs, bandit.Round{T: i, Open: []bool{true, true, true, true}})
		}
		arm := slices.Index(probs, 1)
		p.Update(bandit.Pull{ID: i, Arm: arm, Prob: 1}, float64(arm)/4)
		arms = append(arms, arm)
	}
	return arms
}

// The linear weights overflow, and the last arm takes every round from then on.
func TestEXP3POverflows(t *testing.T) {
	a, err := New(Config{Algo: EXP3P, Arms: 3, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	e := a.policy.(*exp3p)
	e.weights[0] = 1e308
	for range 40 {
		a.Update(0, 1)
	}
	for range 20 {
		if c, _ := a.Select(); c.Raw != 2 {
			t.Fatalf("chose %d with weights %v", c.Raw, e.weights)
		}
	}
}

// Fallback by hand: of the open arms the one with the fewest pulls.
func TestFallback(t *testing.T) {
	for _, c := range []struct {
		why    string
		raw    int
		pulls  []int
		closed []int
		want   int
	}{
		{"open: as chosen, however often it was pulled", 0, []int{9, 0}, nil, 0},
		{"the fewest pulls", 0, []int{3, 2, 1}, []int{0}, 2},
		{"of equals the first in a Python set", 2, []int{4, 1, 3, 1}, []int{2}, 1},
		{"closed arms do not count, few pulls or not", 3, []int{2, 0, 1, 3}, []int{1, 3}, 2},
	} {
		got := fallback(c.raw, c.pulls, func(arm int) bool { return !slices.Contains(c.closed, arm) })
		if got != c.want {
			t.Errorf("%s: arm %d, want %d", c.why, got, c.want)
		}
	}
}

// A reward of NaN counts as 0, to every policy and in both forms.
func TestNaNCountsAsZero(t *testing.T) {
	play := func(algo string, bad float64) (choices []Choice, arms []float64) {
		a, err := New(Config{Algo: algo, Arms: 4, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPolicy(Config{Algo: algo, Arms: 4, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		for round := range 60 {
			c, err := a.Select()
			if err != nil {
				t.Fatal(err)
			}
			probs := make([]float64, 4)
			p.Probs(probs, bandit.Round{T: round, Open: []bool{true, true, true, true}})
			reward := float64(c.Arm) / 4
			if round%7 == 2 {
				reward = bad
			}
			a.Update(c.Arm, reward)
			p.Update(bandit.Pull{Arm: c.Arm}, reward)
			choices, arms = append(choices, c), append(arms, probs...)
		}
		return choices, arms
	}
	for _, algo := range Algos() {
		choices, arms := play(algo, math.NaN())
		wantChoices, wantArms := play(algo, 0)
		if !slices.Equal(choices, wantChoices) || !slices.Equal(arms, wantArms) {
			t.Errorf("%s: with NaN %v, with 0 %v", algo, choices, wantChoices)
		}
		if other, _ := play(algo, 1); algo != Uniform && slices.Equal(other, wantChoices) {
			t.Errorf("%s: the rewards in question sway nothing, so the test is blind", algo)
		}
	}
}
