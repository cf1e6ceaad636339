package sim

import (
	"context"
	"errors"
	"math"
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
	return []Setting{{Family: Named("staircase"), Arms: 4, Rounds: 60},
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
			if e.Final[run] != final || c.Oracle[run] != oracle[s.Rounds] || e.Regret[run] != oracle[s.Rounds]-final {
				t.Errorf("%v, run %d: final %v, oracle %v, regret %v; by itself %v, %v", s, run, e.Final[run], c.Oracle[run],
					e.Regret[run], final, oracle[s.Rounds])
			}
			for l, level := range c.Levels {
				if e.First[l][run] != firstAt(played.Best, level.Score) {
					t.Errorf("%v, run %d: level %v at %d", s, run, level, e.First[l][run])
				}
			}
			if e.MeanRegret[run] < 0 || e.Regret[run] < 0 {
				t.Errorf("%v, run %d: better than the oracle", s, run)
			}
		}
		checkCurves(t, c)
	}
}

func checkCurves(t *testing.T, c Cell) {
	t.Helper()
	for _, e := range c.Entries {
		for at := range c.Setting.Rounds + 1 {
			if !(e.Low[at] <= e.Median[at] && e.Median[at] <= e.High[at]) || e.RegretAt[at] < 0 {
				t.Fatalf("%v, %s after %d pulls: quantiles %v %v %v, regret %v", c.Setting, e.Name, at, e.Low[at], e.Median[at],
					e.High[at], e.RegretAt[at])
			}
		}
		sum := 0.0
		for _, r := range e.Regret {
			sum += r
		}
		if last := e.RegretAt[c.Setting.Rounds]; math.Abs(last-sum/float64(len(e.Regret))) > 1e-12 {
			t.Errorf("%v, %s: mean regret at the end %v, by run %v", c.Setting, e.Name, last, e.Regret)
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

// By definition, dealing out the pulls in turn reaches the level of multiple m after m·T pulls with nine
// runs in ten, and the level before that sooner.
func TestLevelsAreRoundRobins(t *testing.T) {
	inTurn := Contender{Name: "in turn", New: func(Setting) bandit.Policy { return &turns{} }}
	cells := study(t, StudyConfig{
		Contenders: []Contender{inTurn}, Settings: []Setting{{Family: Named("power-law"), Arms: 4, Rounds: 80}}, Runs: 40,
		Multiples: []float64{0.25, 0.5, 1}, Scores: []float64{0.3, 0.31, 2},
	})
	if got, want := cells[0].Levels[3:], []Level{{0, 0.3, true}, {0, 0.31, false}, {0, 2, false}}; !slices.Equal(got,
		want) {
		t.Errorf("given scores: %v, want %v", got, want)
	}
	if got := cells[0].Pulls("in turn", 5); got != NotReached {
		t.Errorf("a score of 2 is reached after %d pulls", got)
	}
	for i, l := range cells[0].Levels[:3] {
		pulls := cells[0].Pulls("in turn", i)
		if pulls == NotReached || float64(pulls) > l.Multiple*80 || l.Trivial {
			t.Errorf("level %+v is reached after %d pulls, want at most %v", l, pulls, l.Multiple*80)
		}
	}
	if cells[0].Levels[0].Score >= cells[0].Levels[2].Score {
		t.Errorf("levels do not rise: %+v", cells[0].Levels)
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
		Settings: []Setting{{Family: ending{Named("staircase")}, Arms: 3, Rounds: 20}}, Runs: 5})
	for _, e := range cells[0].Entries {
		for run, final := range e.Final {
			if final != cells[0].Oracle[run] || len(e.Median) != 21 || e.Median[20] != e.Median[6] {
				t.Errorf("%s, run %d: final %v, want %v after all 6 pulls, and the same after 20", e.Name, run, final,
					cells[0].Oracle[run])
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
		{"negative pending pulls", func(c *StudyConfig) { c.InFlight = -2 }, "sim: a study with -2 pulls"},
		{"negative parallelism", func(c *StudyConfig) { c.Parallel = -2 }, "sim: a study with -2 runs at once"},
		{"names are how entries are found", func(c *StudyConfig) { c.Contenders = append(c.Contenders, c.Contenders[0]) },
			`sim: two policies named "even"`},
		{"a setting without rounds", func(c *StudyConfig) { c.Settings[0].Rounds = 0 }, "sim: setting staircase K=4 N=1 T=0"},
		{"a multiple of nothing", func(c *StudyConfig) { c.Multiples = []float64{0} }, "sim: multiple 0"},
		{"negative arms", func(c *StudyConfig) { c.Contenders = []Contender{{Name: "x", New: newEven, Arms: -1}} },
			`sim: policy "x" has -1 arms`},
		{"a contender's own play at fault is named", func(c *StudyConfig) {
			c.Contenders = []Contender{{Name: "bad", Play: func(Setting, uint64) ([]float64, float64, error) {
				return nil, 0, errors.New("no way")
			}}}
		}, "sim: staircase K=4 N=1 T=60: bad: no way"},
		{"a contender's own play without scores", func(c *StudyConfig) {
			c.Contenders = []Contender{{Name: "bad", Play: func(Setting, uint64) ([]float64, float64, error) {
				return nil, 0, nil
			}}}
		}, "sim: staircase K=4 N=1 T=60: bad: sim: Contender.Play returns 0 scores: need 1 to 61"},
		{"a policy at fault is named", func(c *StudyConfig) {
			c.Contenders = append(slices.Clone(c.Contenders),
				Contender{Name: "bad", New: func(Setting) bandit.Policy { return &nothing{} }})
		}, "sim: staircase K=4 N=1 T=60: bad: bandit: "},
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

// A contender that plays its runs itself meets the same settings and seeds, and is timed.
func TestContenderPlays(t *testing.T) {
	own := Contender{Name: "own", Play: func(s Setting, seed uint64) ([]float64, float64, error) {
		return Oracle(Arms(s.Family, seed, s.Arms, s.N, s.Rounds), s.Rounds), float64(seed), nil
	}}
	cells := study(t, StudyConfig{Contenders: []Contender{own, twoPolicies[0]}, Settings: twoSettings(), Runs: 5, Seed: 7})
	for _, c := range cells {
		e := c.Entry("own")
		if !slices.Equal(e.Final, c.Oracle) || !slices.Equal(e.Seconds, []float64{7, 8, 9, 10, 11}) {
			t.Errorf("%v: final %v of %v in %v s", c.Setting, e.Final, c.Oracle, e.Seconds)
		}
		if got := c.Entry("even").Seconds; !slices.Equal(got, make([]float64, 5)) {
			t.Errorf("%v: a policy that does not tell takes %v s", c.Setting, got)
		}
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
