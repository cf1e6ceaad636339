package race

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
)

// turns deals out the pulls in turn.
type turns struct{}

func (*turns) Probs(p []float64, r bandit.Round) {
	clear(p)
	p[r.T%len(p)] = 1
}

func (*turns) Update(bandit.Pull, float64) {}

// nothing gives no arm any chance.
type nothing struct{ turns }

func (*nothing) Probs(p []float64, _ bandit.Round) { clear(p) }

// ucb1 is UCB1 in a few lines: a policy that does not change when package bandit does.
type ucb1 struct{ bandit.Tally }

func (u *ucb1) Probs(p []float64, r bandit.Round) { bandit.OneHot(p, r.Open, u.index) }

func (u *ucb1) index(arm int) float64 { return u.Mean(arm) + 1/(1+u.Pulls(arm)) }

func (u *ucb1) Update(pull bandit.Pull, reward float64) { u.Add(pull.Arm, reward) }

func newEven(sim.Setting) bandit.Policy { return bandit.Random{} }
func newUCB1(sim.Setting) bandit.Policy { return &ucb1{} }

var twoPolicies = []Contender{{Contender: sim.Contender{Name: "even", New: newEven}},
	{Contender: sim.Contender{Name: "ucb", New: newUCB1}}}

func study(t *testing.T, cfg StudyConfig) []sim.Cell {
	t.Helper()
	cells, err := Study(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

func TestStudyErrors(t *testing.T) {
	bank := []sim.Setting{{Family: &sim.Bank{Task: "cp"}, Arms: 1, Rounds: 1}}
	named := func(c Contender) []Contender {
		c.Name, c.New = "x", newEven
		return append(slices.Clip(twoPolicies), c)
	}
	for _, c := range []struct {
		why  string
		edit func(*StudyConfig)
		want string
	}{
		{"negative slots", func(c *StudyConfig) { c.Slots = -1 }, "race: a study with -1 slots"},
		{"a negative window", func(c *StudyConfig) { c.Contenders = named(Contender{Window: -1}) },
			`race: policy "x" has a window of -1 children`},
		{"recorded searches at another breadth", func(c *StudyConfig) {
			c.Settings, c.Contenders = bank, named(Contender{Breadth: breadth.Fixed(2)})
		}, `race: "x" cannot be raced over bank-cp`},
		{"recorded searches in time", func(c *StudyConfig) { c.Settings, c.Slots = bank, 3 },
			`race: "even" cannot be raced over bank-cp`},
		{"a breadth at fault is named", func(c *StudyConfig) { c.Contenders = named(Contender{Breadth: breadth.Fixed(-1)}) },
			"sim: staircase K=4 N=1 T=60: x: race: Breadth Fixed(-1) asks for -1 children"},
		{"what a study without races refuses", func(c *StudyConfig) { c.Contenders = nil }, "sim: a study without policies"},
	} {
		cfg := StudyConfig{Contenders: twoPolicies}
		cfg.Settings, cfg.Runs = []sim.Setting{{Family: formulas("staircase")[0], Arms: 4, Rounds: 60}}, 3
		c.edit(&cfg)
		if _, err := Study(context.Background(), cfg); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
}

// What contenders have of their own: fewer arms, a breadth or several, a window, and searches that drift.
func TestContenders(t *testing.T) {
	f := HillClimb{Objective: "ht", Rounded: true}
	s := sim.Setting{Family: f, Arms: 3, N: 4, Rounds: 30}
	cfg := StudyConfig{StudyConfig: sim.StudyConfig{Settings: []sim.Setting{s}, Runs: 6, Seed: 40},
		Contenders: []Contender{
			{Contender: sim.Contender{Name: "one", New: newEven, Arms: 1}},
			{Contender: sim.Contender{Name: "many", New: newUCB1, Arms: 9}},
			{Contender: sim.Contender{Name: "all", New: newUCB1}},
			{Contender: sim.Contender{Name: "wide", New: newUCB1}, Breadth: breadth.Fixed(20)},
			{Contender: sim.Contender{Name: "window", New: newUCB1}, Breadth: breadth.Fixed(20), Window: 5},
			{Contender: sim.Contender{Name: "several", New: newUCB1},
				Breadths: slices.Repeat([]evolve.Breadth{breadth.Fixed(20)}, 5)},
			{Contender: sim.Contender{Name: "drifting", New: newEven, Arms: 1}, Neutral: true},
			{Contender: sim.Contender{Name: "drifting wide", New: newEven, Arms: 1}, Neutral: true, Breadth: breadth.Fixed(20)},
		}}
	cell := study(t, cfg)[0]
	raced := func(f Stepper, k int, p bandit.Policy, seed uint64, window int) float64 {
		return runRace(t, p, searchesOf(f, seed, k), Config{Calls: 120, Seed: seed, Breadth: breadth.Fixed(20),
			Window: window}).Best[120]
	}
	differ := map[string]bool{}
	for run := range 6 {
		seed := 40 + uint64(run)
		for name, want := range map[string]float64{
			"one":           f.Arm(sim.Address{Seed: seed, N: 4, Rounds: 30})[30],
			"many":          cell.Entry("all").Final[run],
			"wide":          raced(f, 3, &ucb1{}, seed, 0),
			"window":        raced(f, 3, &ucb1{}, seed, 5),
			"several":       raced(f, 5, &ucb1{}, seed, 0), // also more than the setting has arms
			"drifting":      f.Drifting().Arm(sim.Address{Seed: seed, N: 4, Rounds: 30})[30],
			"drifting wide": raced(f.Drifting(), 1, bandit.Random{}, seed, 0),
		} {
			if got := cell.Entry(name).Final[run]; got != want {
				t.Errorf("%s, run %d: %v, want %v", name, run, got, want)
			}
			differ[name] = differ[name] || want != cell.Entry("all").Final[run]
		}
	}
	for name, d := range differ {
		if d == (name == "many") {
			t.Errorf("%s differs from all arms at the setting's breadth: %v", name, d)
		}
	}
}

// With slots or latencies every policy is raced, and its runs take time. The scores of equal steps are as without.
func TestStudyInTime(t *testing.T) {
	base := sim.StudyConfig{Settings: []sim.Setting{{Family: Landscape{Kind: "maxcut"}, Arms: 3, N: 6, Rounds: 20}},
		Runs: 4}
	plain := study(t, StudyConfig{StudyConfig: base, Contenders: twoPolicies})[0]
	timed := study(t, StudyConfig{StudyConfig: base, Contenders: twoPolicies, Slots: 3})[0]
	for i, e := range timed.Entries {
		if !slices.Equal(e.Final, plain.Entries[i].Final) || !reflect.DeepEqual(e.Courses, plain.Entries[i].Courses) {
			t.Errorf("%s: %v in slots, %v without", e.Name, e.Final, plain.Entries[i].Final)
		}
		for run, seconds := range e.Seconds { // six children in three slots: 2 s for each of 20 steps
			if seconds != 40 || plain.Entries[i].Seconds[run] != 0 {
				t.Errorf("%s, run %d: %v s in slots, %v s without", e.Name, run, seconds, plain.Entries[i].Seconds[run])
			}
		}
	}
	slow := study(t, StudyConfig{StudyConfig: base, Contenders: twoPolicies,
		Latency: func(*rand.Rand) float64 { return 2.5 }})[0]
	if got := slow.Entries[0].Seconds; !slices.Equal(got, []float64{50, 50, 50, 50}) {
		t.Errorf("20 steps of 2.5 s take %v", got)
	}
}
