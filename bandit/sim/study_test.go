package sim

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
)

func newEven(Setting) bandit.Policy { return even{} }
func newUCB1(Setting) bandit.Policy { return &ucb1{} }

var twoPolicies = []Contender{{Name: "even", New: newEven}, {Name: "ucb", New: newUCB1}}

func twoSettings() []Setting {
	return []Setting{{Family: Named("ideas"), Arms: 4, Rounds: 60},
		{Family: Named("plateaus"), Arms: 3, N: 2, Rounds: 40}}
}

func study(t *testing.T, cfg StudyConfig) []Cell {
	t.Helper()
	cells, err := Study(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// The numbers of a study are those of playing each run by itself.
func TestStudyIsManyPlays(t *testing.T) {
	cells := study(t, StudyConfig{Contenders: twoPolicies, Settings: twoSettings(), Seed: 7, Runs: 20})
	for i, s := range twoSettings() {
		c := cells[i]
		for run := range 20 {
			seed := 7 + uint64(run)
			arms := Arms(s.Family, seed, s.Arms, s.N, s.Rounds)
			oracle := Oracle(arms, s.Rounds)
			played, err := Play(&ucb1{}, arms, PlayConfig{Rounds: s.Rounds, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			e := c.Entry("ucb")
			final := played.Best[s.Rounds]
			if e.Final[run] != final || c.Oracle[run] != oracle[s.Rounds] {
				t.Errorf("%v, run %d: final %v, oracle %v; by itself %v, %v", s, run, e.Final[run], c.Oracle[run],
					final, oracle[s.Rounds])
			}
			if c.Start[run] != arms[0][0] {
				t.Errorf("%v, run %d: starts at %v, want %v", s, run, c.Start[run], arms[0][0])
			}
		}
	}
}

// How many runs go on at once changes nothing, and neither does what else is compared.
func TestStudyIsRepeatable(t *testing.T) {
	cfg := StudyConfig{Contenders: twoPolicies, Settings: twoSettings(), Runs: 12, Parallel: 1}
	one := study(t, cfg)
	cfg.Parallel = 8
	var calls atomic.Int32
	cfg.Progress = func() { calls.Add(1) }
	if !reflect.DeepEqual(one, study(t, cfg)) {
		t.Error("run eight at once, the cells differ")
	}
	if calls.Load() != 24 {
		t.Errorf("progress called %d times, want once for each of 24 runs", calls.Load())
	}
	cfg.Contenders = slices.Clone(twoPolicies)
	slices.Reverse(cfg.Contenders)
	if !reflect.DeepEqual(one[0].Entry("ucb"), study(t, cfg)[0].Entry("ucb")) {
		t.Error("in another order, an entry differs")
	}
}

// turns deals out the pulls in turn.
type turns struct{}

func (*turns) Probs(p []float64, r bandit.Round) {
	clear(p)
	p[r.T%len(p)] = 1
}

func (*turns) Update(bandit.Pull, float64) {}

// ending is arms that end after two pulls.
type ending struct{ Family }

func (e ending) Arm(a Address) []float64 {
	a.Rounds = min(a.Rounds, 2)
	return e.Family.Arm(a)
}

// Once every arm has ended, the best score stays.
func TestArmsThatEnd(t *testing.T) {
	cells := study(t, StudyConfig{Contenders: twoPolicies,
		Settings: []Setting{{Family: ending{Named("ideas")}, Arms: 3, Rounds: 20}}, Runs: 5})
	for _, e := range cells[0].Entries {
		for run, final := range e.Final {
			if final != cells[0].Oracle[run] {
				t.Errorf("%s, run %d: final %v, want %v, that of all 6 pulls", e.Name, run, final, cells[0].Oracle[run])
			}
		}
	}
}

func TestStudyErrors(t *testing.T) {
	for _, c := range []struct {
		why  string
		edit func(*StudyConfig)
		want string
	}{
		{"nothing to compare", func(c *StudyConfig) { c.Contenders = nil }, "sim: a study without policies"},
		{"nothing to play", func(c *StudyConfig) { c.Settings = nil }, "sim: a study without settings"},
		{"negative runs", func(c *StudyConfig) { c.Runs = -2 }, "sim: a study of -2 runs"},
		{"negative pending pulls", func(c *StudyConfig) { c.InFlight = -2 }, "sim: ideas K=4 N=1 T=60: even: sim: Play with -2 pulls"},
		{"negative parallelism", func(c *StudyConfig) { c.Parallel = -2 }, "sim: a study with -2 runs at once"},
		{"names are how entries are found", func(c *StudyConfig) { c.Contenders = append(c.Contenders, c.Contenders[0]) },
			`sim: two policies named "even"`},
		{"a setting without rounds", func(c *StudyConfig) { c.Settings[0].Rounds = 0 }, "sim: setting ideas K=4 N=1 T=0"},
		{"negative arms", func(c *StudyConfig) { c.Contenders = []Contender{{Name: "x", New: newEven, Arms: -1}} },
			`sim: policy "x" has -1 arms`},
		{"a policy at fault is named", func(c *StudyConfig) {
			c.Contenders = append(slices.Clone(c.Contenders),
				Contender{Name: "bad", New: func(Setting) bandit.Policy { return &nothing{} }})
		}, "sim: ideas K=4 N=1 T=60: bad: bandit: "},
	} {
		cfg := StudyConfig{Contenders: twoPolicies, Settings: twoSettings(), Runs: 3}
		c.edit(&cfg)
		if _, err := Study(context.Background(), cfg); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
}

// nothing gives no arm any chance.
type nothing struct{ turns }

func (*nothing) Probs(p []float64, _ bandit.Round) { clear(p) }

// A study that is stopped returns the settings that are complete.
func TestStudyStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var calls atomic.Int32
	cells, err := Study(ctx, StudyConfig{Contenders: twoPolicies, Settings: twoSettings(), Runs: 50, Parallel: 1,
		Progress: func() {
			if calls.Add(1) == 60 {
				cancel()
			}
		}})
	if !errors.Is(err, context.Canceled) || len(cells) != 1 {
		t.Errorf("stopped in the second setting: %d cells, %v", len(cells), err)
	}
}

// What contenders have of their own: fewer arms.
func TestContenderArms(t *testing.T) {
	s := twoSettings()[1]
	cell := study(t, StudyConfig{Settings: []Setting{s}, Runs: 6, Seed: 40, Contenders: []Contender{
		{Name: "one", New: newEven, Arms: 1}, {Name: "many", New: newUCB1, Arms: 9}, {Name: "all", New: newUCB1},
	}})[0]
	for run := range 6 {
		alone := s.Family.Arm(Address{Seed: 40 + uint64(run), N: s.N, Rounds: s.Rounds})
		if got, want := cell.Entry("one").Final[run], alone[s.Rounds]; got != want {
			t.Errorf("one, run %d: %v, want %v", run, got, want)
		}
	}
	if one, many, all := cell.Entry("one").Final, cell.Entry("many").Final,
		cell.Entry("all").Final; !slices.Equal(many, all) || slices.Equal(one, all) {
		t.Errorf("one arm comes to %v, nine to %v, all to %v", one, many, all)
	}
}
