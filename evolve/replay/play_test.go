package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
)

// roundRobin pulls the first open arm from the draw's number on.
type roundRobin struct{}

func (roundRobin) Probs(p []float64, r bandit.Round) {
	clear(p)
	for i := range p {
		if arm := (r.T + i) % len(p); r.Open[arm] {
			p[arm] = 1
			return
		}
	}
}

func (roundRobin) Update(bandit.Pull, float64) {}

var threeArms = []Arm{
	{Name: "a", Best: []float64{0.1, 0.2, 0.3, 0.4}},
	{Name: "b", Best: []float64{0.1, 0.1, 0.9}, Rewards: []float64{7, 8}},
	{Name: "c", Best: []float64{0.1}},
}

// Arm c has nothing: the third draw closes it and the fourth takes its round. Arm b ends after two pulls.
func TestShortSearchesClose(t *testing.T) {
	played, err := Play(roundRobin{}, threeArms, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 0, 1, 0}; !slices.Equal(played.Selections, want) {
		t.Errorf("selections %v, want %v", played.Selections, want)
	}
	if want := []float64{0.2, 7, 0.3, 8, 0.4}; !slices.Equal(played.Rewards, want) {
		t.Errorf("rewards %v, want %v", played.Rewards, want)
	}
	if want := []float64{0.1, 0.2, 0.2, 0.3, 0.9, 0.9}; !slices.Equal(played.Best, want) {
		t.Errorf("best %v, want %v", played.Best, want)
	}
}

func TestRoundsAndCap(t *testing.T) {
	for _, c := range []struct {
		why  string
		cfg  Config
		want []int
	}{
		{"no more rounds than asked for", Config{Rounds: 2}, []int{0, 1}},
		{"an arm closes at the cap", Config{Cap: 1}, []int{0, 1}},
		{"the cap is higher than what is logged", Config{Cap: 3}, []int{0, 1, 0, 1, 0}},
	} {
		if played, err := Play(roundRobin{}, threeArms, c.cfg); err != nil || !slices.Equal(played.Selections, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.why, played.Selections, err, c.want)
		}
	}
}

func TestPlayErrors(t *testing.T) {
	for _, c := range []struct {
		why  string
		arms []Arm
		cfg  Config
		want string
	}{
		{"no search", nil, Config{}, "replay: the log has no search"},
		{"a search without a start", []Arm{{Name: "x"}}, Config{}, "replay: search x has no score"},
		{"negative rounds", threeArms, Config{Rounds: -1}, "replay: Play of -1 rounds"},
		{"negative calls", threeArms, Config{Calls: -1}, "replay: Play of 0 rounds and -1 calls"},
		{"a negative cap", threeArms, Config{Cap: -1}, "replay: Play of 0 rounds and 0 calls with a cap of -1"},
		{"a pull without a call", []Arm{of(0)}, Config{}, "replay: search x: 0 calls in generation 1"},
		{"calls of one pull of two", []Arm{{Name: "x", Best: []float64{0, 1}, Calls: []int{1, 2}}}, Config{},
			"replay: search x: calls of 2 pulls, of 1"},
	} {
		if _, err := Play(roundRobin{}, c.arms, c.cfg); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
}

// of returns an arm of pulls of these sizes, whose score is the number of pulls.
func of(calls ...int) Arm {
	a := Arm{Name: "x", Best: make([]float64, len(calls)+1), Calls: calls}
	for i := range a.Best {
		a.Best[i] = float64(i)
	}
	return a
}

// asked notes the calls that a policy is told.
type asked struct {
	roundRobin
	before, after *[]string
}

func (a asked) Probs(p []float64, r bandit.Round) {
	*a.before = append(*a.before, fmt.Sprint(r.Calls))
	a.roundRobin.Probs(p, r)
}

func (a asked) Update(pull bandit.Pull, _ float64) {
	*a.after = append(*a.after, fmt.Sprint(pull.Calls))
}

// A policy is told what pulls make, as it would be in a run. Where the log ends, the last pull stands for the next.
// Draws of arms whose log has ended are among those.
func TestPoliciesAreToldTheCalls(t *testing.T) {
	arms := []Arm{of(2, 5), of(2, 3, 4), {Name: "unused", Best: []float64{0}}}
	var before, after []string
	if _, err := Play(asked{before: &before, after: &after}, arms, Config{}); err != nil {
		t.Fatal(err)
	}
	if want := "[2 2 1] [5 2 1] [5 3 1] [5 3 1] [5 3 1] [5 4 1] [5 4 1] [5 4 1]"; strings.Join(before, " ") != want ||
		strings.Join(after, " ") != "2 2 5 3 4" {
		t.Errorf("told %v and then %v, want %s", before, after, want)
	}
	run := &Allocation{Selections: []int{0, 1, 1}, Rewards: []float64{1, 1, 2}, Propensities: []float64{1, 1, 1}}
	before, after = nil, nil
	steps, err := Log{Arms: arms, Run: run}.Along(func() bandit.Policy { return asked{before: &before, after: &after} }, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range steps {
	}
	if want := "[2 2 1] [5 2 1] [5 3 1]"; strings.Join(before, " ") != want || strings.Join(after, " ") != "2 2 3" {
		t.Errorf("along the log told %v and then %v, want %s", before, after, want)
	}
}

func TestPlayOfCalls(t *testing.T) {
	arms := []Arm{of(2, 5), of(2, 3, 4)}
	for _, tt := range []struct {
		calls, pulls int
		after        float64 // of the second arm alone
	}{{1, 0, 0}, {2, 1, 1}, {8, 2, 2}, {9, 3, 3}, {100, 5, 3}} {
		played, err := Play(roundRobin{}, arms, Config{Calls: tt.calls})
		if err != nil || len(played.Selections) != tt.pulls || len(played.Best) != tt.pulls+1 {
			t.Errorf("%d calls make the pulls %v, want %d: %v", tt.calls, played.Selections, tt.pulls, err)
		}
		if got := arms[1].After(tt.calls); got != tt.after {
			t.Errorf("after %d calls the second arm has %v, want %v", tt.calls, got, tt.after)
		}
	}
}
