package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
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
		{"a negative cap", threeArms, Config{Cap: -1}, "replay: Play of 0 rounds with a cap of -1"},
	} {
		if _, err := Play(roundRobin{}, c.arms, c.cfg); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
	if err := Verify(Log{Arms: threeArms}, roundRobin{}, 0); err == nil ||
		!strings.Contains(err.Error(), "without a bandit's run") {
		t.Errorf("nothing to verify: %v", err)
	}
}

func TestVerifyNamesTheRound(t *testing.T) {
	l := Log{Arms: threeArms[:2], Run: &Run{Selections: []int{0, 1, 0}, Rewards: []float64{0.2, 7, 0.3},
		Propensities: []float64{1, 1, 1}}}
	if err := Verify(l, roundRobin{}, 0); err != nil {
		t.Error(err)
	}
	l.Run.Propensities[2] = 0.5
	if err := Verify(l, roundRobin{}, 0); err == nil || !strings.Contains(err.Error(), "round 2") ||
		!strings.Contains(err.Error(), "0.5") {
		t.Errorf("another propensity: %v", err)
	}
	l.Run.Selections[1] = 0
	if err := Verify(l, roundRobin{}, 0); err == nil || !strings.Contains(err.Error(), "round 1") {
		t.Errorf("another arm: %v", err)
	}
}

// A seed deals out the searches, each once, and another seed in another order.
func TestFamilyDeals(t *testing.T) {
	f := Family{Name: "logs"}
	for i := range 8 {
		f.Arms = append(f.Arms, Arm{Best: slices.Repeat([]float64{float64(i) / 10}, 3+i)})
	}
	orders := make(map[string]bool)
	for seed := range uint64(6) {
		var got []float64
		for _, arm := range sim.Arms(f, seed, 8, 1, 5) {
			if len(arm) > 6 || len(arm) != min(6, 3+int(10*arm[0]+0.5)) {
				t.Errorf("an arm of %d scores from search %v", len(arm), arm[0])
			}
			got = append(got, arm[0])
		}
		orders[fmt.Sprint(got)] = true
		slices.Sort(got)
		if want := []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}; !slices.Equal(got, want) {
			t.Errorf("seed %d deals out %v", seed, got)
		}
	}
	if len(orders) < 5 {
		t.Errorf("%d different orders for 6 seeds", len(orders))
	}
	cells, err := sim.Study(t.Context(), sim.StudyConfig{
		Contenders: []sim.Contender{{Name: "in turn", New: func(sim.Setting) bandit.Policy { return roundRobin{} }}},
		Settings:   []sim.Setting{{Family: f, Arms: 4, Rounds: 40}}, Runs: 10,
	})
	if err != nil || len(cells) != 1 || len(cells[0].Entries[0].Median) != 41 {
		t.Errorf("a study over logs: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a ninth of eight searches")
		}
	}()
	f.Arm(sim.Address{Index: 8})
}
