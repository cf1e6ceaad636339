package sim

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/internal/bootstrap"
)

// The family is what its comment says: shares follow from the formulas, tolerances are four standard deviations.
func TestTracedByFormula(t *testing.T) {
	task := gemini.Tasks[3]
	alone := &traced{Tasks: []tracedTask{task}}
	counts := map[string]float64{}
	for i := range 4000 {
		if alone.Arm(Address{Index: i, Rounds: 3})[3] == 0 {
			counts["none"]++
		}
		s := alone.Search(1, i)
		s.Take(0.3)
		switch gap, valid := s.Child(1); {
		case gap < 0.3:
			counts["better"]++
		case gap == 0.3:
			counts["tie"]++
		case !valid:
			counts["invalid"]++
		}
	}
	w := task.Wait[1]
	exponent := 2 * task.Lift[1] / (1 - tracedShare + tracedShare*task.Lift[1])
	better := 1 - math.Pow(w/(w+1), exponent)
	for name, want := range map[string]float64{
		"none":    math.Pow(task.Wait[0]/(task.Wait[0]+3), 2), // both models as in the logs, nearly
		"better":  better,
		"tie":     (task.Valid[1] - better) * task.Tie,
		"invalid": 1 - task.Valid[1],
	} {
		if got := counts[name] / 4000; math.Abs(got-want) > 0.032 {
			t.Errorf("%s: %.3f, want %.3f", name, got, want)
		}
	}
}

// tasks are the tasks of the family by the folder of their groups.
var tasks = map[string]int{"circle_packing_rect": 0, "circle_packing_square/26": 1, "circle_packing_square/32": 2,
	"minimizing_max_min_dist/2": 3, "minimizing_max_min_dist/3": 4, "second_autocorr_ineq": 5}

// The best so far of islands that the family was not fitted to, and of searches of the same tasks, by quantiles.
func TestTracedFit(t *testing.T) {
	logged, fitted := map[string][][]float64{}, map[string][][]float64{}
	groups := islands(t)
	for g, group := range slices.Sorted(maps.Keys(groups)) {
		task := path.Dir(group)
		alone := &traced{Tasks: gemini.Tasks[tasks[task]:][:1], Digits: true}
		for i, gaps := range groups[group] {
			if (g+i)%2 == 0 {
				continue
			}
			best, course := 1.0, []float64{0}
			for _, gap := range gaps {
				best = min(best, gap)
				course = append(course, 0-math.Log10(best)/6)
			}
			kind, _, _ := strings.Cut(task, "_")
			for _, k := range []string{kind, "all"} {
				logged[k] = append(logged[k], course)
				for seed := range uint64(200) {
					fitted[k] = append(fitted[k], alone.Arm(Address{Seed: seed, Index: 10*g + i, Rounds: 80}))
				}
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(logged)) {
		for _, calls := range []int{10, 20, 40, 80} {
			is, want := at(fitted[kind], calls), at(logged[kind], calls)
			line := fmt.Sprintf("%-11s %2d calls, logged and fitted:", kind, calls)
			for _, q := range []float64{0.1, 0.25, 0.5, 0.75, 0.9} {
				line += fmt.Sprintf(" %.2f: %.2f %.2f,", q, bootstrap.Quantile(want, q), bootstrap.Quantile(is, q))
			}
			mean := Mean(want)
			t.Logf("%s mean %v %.3f", line, mean, Mean(is).Value)
			if width := mean.High - mean.Low; kind == "all" && math.Abs(Mean(is).Value-mean.Value) > width {
				t.Errorf("%d calls: the family's mean is %v, that of the logs %v", calls, Mean(is).Value, mean)
			}
		}
	}
}

// How far the islands of a group lie apart, as the standard deviation of their scores, and as many searches of the
// family. Islands exchange programs after 40 calls, which searches of the family do not.
func TestTracedSpread(t *testing.T) {
	groups := islands(t)
	for _, calls := range []int{5, 20, 40, 80} {
		var logged, fitted float64
		for group, arms := range groups {
			alone := &traced{Tasks: gemini.Tasks[tasks[path.Dir(group)]:][:1]}
			var best []float64
			for _, gaps := range arms {
				best = append(best, 1-slices.Min(gaps[:calls]))
			}
			logged += stat.StdDev(best, nil) / float64(len(groups))
			for seed := range uint64(100) {
				fives := Arms(alone, seed, 5, 1, calls)
				fitted += stat.StdDev(at(fives, calls), nil) / float64(100*len(groups))
			}
		}
		t.Logf("%d calls: logged %.3f, fitted %.3f", calls, logged, fitted)
		if calls <= 40 && (fitted < logged/2 || fitted > 2*logged) {
			t.Errorf("%d calls: the spread between searches of a task is %.3f, between islands %.3f", calls, fitted, logged)
		}
	}
}

// What a call of each model gains in the logs, by how far the search is: the dear one is never worth its price.
func TestTracedModels(t *testing.T) {
	var file struct{ Groups map[string]map[string][][]any }
	traces(t, "codeevolve.json.gz", &file)
	var calls, better [4][2]float64
	for group, arms := range islands(t) {
		for i, gaps := range arms {
			s := &tracedSearch{gap: 1}
			for n, gap := range gaps {
				state, model := s.state, 0
				if name, _ := file.Groups[group][fmt.Sprint(i)][n][1].(string); strings.HasSuffix(name, "PRO") {
					model = 1
				}
				if s.gap > 1e-6 {
					calls[state][model]++
					if s.Take(gap) {
						better[state][model]++
					}
				}
			}
		}
	}
	for state := range calls {
		flash, pro := better[state][0]/calls[state][0], better[state][1]/calls[state][1]
		t.Logf("state %d: better children of %v calls %.3f, of %v %.3f", state, calls[state][0], flash, calls[state][1], pro)
		if pro/gemini.Dollars[1] > flash/gemini.Dollars[0] {
			t.Errorf("state %d: a dollar of the second model gains more", state)
		}
	}
}

// How many better children come between two numbers of calls, in the family and in logged runs of another system.
func TestTracedLater(t *testing.T) {
	var file struct{ Runs map[string][][]any }
	traces(t, "levi.json.gz", &file)
	for _, from := range []int{40, 80, 160, 320} {
		line, fitted := "", 0
		for _, name := range slices.Sorted(maps.Keys(file.Runs)) {
			best, better := math.Inf(-1), 0
			for n, call := range file.Runs[name][:2*from] {
				if score, _ := call[0].(float64); score > best {
					if best = score; n >= from {
						better++
					}
				}
			}
			line += fmt.Sprintf(" %s %d", path.Base(name), better)
		}
		for seed := range uint64(400) {
			arm := gemini.Arm(Address{Seed: seed, Rounds: 2 * from})
			fitted += len(slices.Compact(arm[from:])) - 1
		}
		t.Logf("calls %d to %d: better children%s; of the family %.1f", from, 2*from, line, float64(fitted)/400)
	}
}

// at returns what the courses have reached after some calls, in ascending order.
func at(courses [][]float64, calls int) (values []float64) {
	for _, c := range courses {
		values = append(values, c[min(calls, len(c)-1)])
	}
	slices.Sort(values)
	return values
}

var tracedRuns = flag.Int("traced-runs", 50, "runs of each row of TestTracedBreadth and TestTracedProposers")

// A way makes one search that costs as much as some calls of the first model, and returns its best.
type way struct {
	name string
	best func(f *traced, seed uint64, calls int) float64
}

// above logs by how much each way ends above the first, as a share of the whole scale, and returns that of the last.
func above(t *testing.T, f *traced, calls int, ways []way) Interval {
	t.Helper()
	line, last := fmt.Sprintf("%-13v %3d calls:", f, calls), Interval{}
	first := make([]float64, *tracedRuns)
	for i, w := range ways {
		more := make([]float64, *tracedRuns)
		for run := range more {
			more[run] = w.best(f, 90_000_000+uint64(run), calls) - first[run]
		}
		if last = Mean(more); i == 0 {
			first = more
		}
		line += fmt.Sprintf(" %s %v", w.name, last)
	}
	t.Log(line)
	return last
}

// Wide steps waste children: by how much a search of N a step ends above one of a child a step, at equal calls.
func TestTracedBreadth(t *testing.T) {
	var ways []way
	for _, n := range []int{1, 2, 4, 8, 16} {
		ways = append(ways, way{fmt.Sprint("N=", n), func(f *traced, seed uint64, calls int) float64 {
			s := f.Search(seed, 0)
			for left := calls; left > 0; left -= n {
				least := 1.0
				for range min(n, left) {
					gap, _ := s.Child(int(s.rand.Float64() + tracedShare))
					least = min(least, gap)
				}
				s.Take(least)
			}
			return s.Best()
		}})
	}
	for _, f := range []*traced{gemini, geminiDigits} {
		for _, calls := range []int{20, 40, 80, 128, 512} {
			if sixteen := above(t, f, calls, ways); sixteen.Low > 0 {
				t.Errorf("%v, %d calls: sixteen children of one parent gain more than one after the other", f, calls)
			}
		}
	}
}

// Two models in one search, at equal dollars, above the cheap one alone.
func TestTracedProposers(t *testing.T) {
	spend := func(name string, fresh func(f *traced, seed uint64) proposer) way {
		return way{name, func(f *traced, seed uint64, calls int) float64 {
			s, p, dollars := f.Search(seed, 0), fresh(f, seed), f.Dollars[0]*(float64(calls)+0.5)
			for {
				model := p.choose(s)
				if dollars -= f.Dollars[model]; dollars < 0 {
					return s.Best()
				}
				before := s.Best()
				gap, _ := s.Child(model)
				s.Take(gap)
				gain := s.Best() - before
				if before == 0 && gain > 0 {
					gain = math.Inf(1) // the first valid program
				}
				p.hear(model, gain)
			}
		}}
	}
	always := func(w while) func(*traced, uint64) proposer { return func(*traced, uint64) proposer { return w } }
	drawn := func(prior float64, count bool) func(*traced, uint64) proposer {
		return func(f *traced, seed uint64) proposer { return newThompson(f, prior, count, seed) }
	}
	ways := []way{spend("flash", always(-1)), spend("pro while invalid", always(0)), spend("pro while far", always(1)),
		spend("default", drawn(20, false)), spend("gains counted", drawn(20, true)), spend("the same, no prior", drawn(-1, true)),
		spend("pro", always(3))}
	for _, f := range []*traced{gemini, geminiDigits} {
		for _, calls := range []int{20, 40, 80, 128, 512} {
			if pro := above(t, f, calls, ways); pro.Low > 0 {
				t.Errorf("%v, dollars of %d calls: the dear model alone gains more, against the logs", f, calls)
			}
		}
	}
}

// A proposer names the model of the next call, and hears whether it was better.
type proposer interface {
	choose(s *tracedSearch) int
	hear(model int, gain float64)
}

// while asks the second model until the search is past a state. -1 asks the first model alone.
type while int

func (w while) choose(s *tracedSearch) int {
	if s.state <= int(w) {
		return 1
	}
	return 0
}

func (while) hear(int, float64) {}

// thompson is the default policy over proposers, or one with another prior or with a credit of 1 for each gain, told what a
// call of each model costs.
type thompson struct {
	player *bandit.Player
	costs  []float64
	pull   bandit.Pull
	count  bool    // each gain is 1
	most   float64 // the largest gain, less 0.5 % a call
}

func newThompson(f *traced, prior float64, count bool, seed uint64) *thompson {
	costs := []float64{1, f.Dollars[1] / f.Dollars[0]}
	return &thompson{player: bandit.NewPlayer(&bandit.BetaThompson{Prior: prior}, 2, seed), costs: costs, count: count}
}

func (p *thompson) choose(*tracedSearch) int {
	var err error
	if p.pull, err = p.player.DrawSized([]bool{true, true}, []int{1, 1}, p.costs); err != nil {
		panic(err)
	}
	return p.pull.Arm
}

func (p *thompson) hear(_ int, gain float64) {
	switch p.most *= 0.995; {
	case gain > 0 && (p.count || math.IsInf(gain, 1)):
		gain = 1
	case gain > 0:
		p.most = max(p.most, gain)
		gain /= p.most
	}
	if err := p.player.Report(p.pull.ID, gain); err != nil {
		panic(err)
	}
}
