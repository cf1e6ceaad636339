package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/audit"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A program of these tests is a pair of numbers: how good it is, and how much its evaluator flatters it. The search sees
// their sum, and a second evaluator sees the first.
func parse(program string) (good, flattery float64, err error) {
	_, err = fmt.Sscan(program, &good, &flattery)
	return good, flattery, err
}

// A scorer scores pairs, and keeps how often it scored which.
type scorer struct {
	name  string
	score func(good, flattery float64) float64
	mu    sync.Mutex
	times map[string]int
}

func newScorer(name string, score func(good, flattery float64) float64) *scorer {
	return &scorer{name: name, score: score, times: map[string]int{}}
}

func (s *scorer) String() string { return s.name }

func (s *scorer) Evaluate(_ context.Context, program string) (eval.Result, error) {
	s.mu.Lock()
	s.times[program]++
	s.mu.Unlock()
	good, flattery, err := parse(program)
	if err != nil {
		return eval.Invalid("not a pair: %v", err), nil
	}
	return eval.Result{Valid: true, Score: s.score(good, flattery)}, nil
}

func (s *scorer) total() (n, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, times := range s.times {
		n, most = n+times, max(most, times)
	}
	return n, most
}

func flattered() *scorer {
	return newScorer("flattered", func(good, flattery float64) float64 { return good + flattery })
}

func honest() *scorer {
	return newScorer("honest", func(good, _ float64) float64 { return good })
}

func pairs(t testing.TB, e eval.Evaluator) task.Task {
	tk, err := task.New(task.Spec{Name: "pairs", Language: "text", System: "Write a better pair.", Initial: "0 0",
		Evaluator: e})
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

// wanderer changes both numbers of the pair it is shown by normal steps that its seed alone decides: the flattery by more.
var wanderer = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "text")
	if err != nil {
		return llm.Reply{}, err
	}
	good, flattery, err := parse(program)
	if err != nil {
		return llm.Reply{}, err
	}
	r := rand.New(rand.NewPCG(uint64(req.Seed), 0))
	good, flattery = good+0.1*r.NormFloat64()-0.05, flattery+0.3*r.NormFloat64()-0.15
	return llm.Reply{Text: fmt.Sprintf("```text\n%.6f %.6f\n```", good, flattery),
		Attempts: []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 9, CompletionTokens: 9}}}}, nil
})

// searches are those that can demote.
var searches = map[string]func(t testing.TB, tk task.Task, seed uint32) evolve.Arm{
	"strict": func(t testing.TB, tk task.Task, seed uint32) evolve.Arm {
		return must(evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: wanderer, N: 4, Seed: seed, Strict: true}))
	},
	"greedy": func(t testing.TB, tk task.Task, seed uint32) evolve.Arm {
		return must(evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: wanderer, N: 4, Seed: seed, Window: 2}))
	},
	"Top(1)": populationOf(func() population.Archive { return population.Top(1) }),
	"Top(8)": populationOf(func() population.Archive { return population.Top(8) }),
	"Drift":  populationOf(population.Drift),
	"Islands": populationOf(func() population.Archive {
		return &population.Islands{Of: []population.Archive{population.Top(1), population.Top(3)}, Every: 5}
	}),
}

func populationOf(archive func() population.Archive) func(testing.TB, task.Task, uint32) evolve.Arm {
	return func(t testing.TB, tk task.Task, seed uint32) evolve.Arm {
		return must(population.New(population.Config{Task: tk, LLM: wanderer, N: 4, Seed: seed, Archive: archive()}))
	}
}

func must[A evolve.Arm](arm A, err error) evolve.Arm {
	if err != nil {
		panic(err)
	}
	return arm
}

func audited(t testing.TB, arm evolve.Arm, cfg audit.Config) evolve.Arm {
	t.Helper()
	a, err := audit.New(arm, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func run(t testing.TB, cfg evolve.Config) *evolve.Result {
	t.Helper()
	res, err := evolve.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// good returns what a result's best is worth.
func good(t testing.TB, r *evolve.Result) float64 {
	t.Helper()
	v, _, err := parse(r.Best.Program)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// No best that a run has kept is worth less than the one before it, in any search that can demote, and a search that is
// flattered falls behind its own audited twin.
func TestDemotionKeepsAnOverfittingSearchHonest(t *testing.T) {
	for name, newSearch := range searches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var gain []float64
			demoted := 0
			seeds := notrun.Length(uint32(10), 20)
			for seed := range seeds {
				budget := evolve.Budget{Evaluations: 100, Calls: 200}
				plain := run(t, evolve.Config{Budget: budget, Arms: []evolve.Arm{newSearch(t, pairs(t, flattered()), seed)}})
				arm := audited(t, newSearch(t, pairs(t, flattered()), seed), audit.Config{By: honest(), Demote: true})
				res := run(t, evolve.Config{Budget: budget, Arms: []evolve.Arm{arm}})
				if res.Evaluations != plain.Evaluations {
					t.Fatalf("%d evaluations with audits, %d without", res.Evaluations, plain.Evaluations)
				}
				demoted += checkAudits(t, res)
				gain = append(gain, good(t, res)-good(t, plain))
			}
			mean, sd := stat.MeanStdDev(gain, nil)
			t95 := distuv.StudentsT{Sigma: 1, Nu: float64(seeds - 1)}.Quantile(0.975)
			if half := t95 * sd / math.Sqrt(float64(seeds)); demoted == 0 || mean < half {
				t.Errorf("%d demoted; the audited best is better by %.3f ± %.3f, want more than its interval", demoted, mean, half)
			}
		})
	}
}

// checkAudits checks the audits of a search that demotes by what programs are worth, and returns how many it has demoted.
func checkAudits(t *testing.T, res *evolve.Result) (demoted int) {
	t.Helper()
	kept := math.Inf(-1)
	for i, g := range res.Arms[0].Generations {
		if g.Best.Program != g.Before.Program && (len(g.Audits) == 0 || g.Audits[len(g.Audits)-1].Program != g.Best.Program) {
			t.Fatalf("generation %d keeps %q, which no audit is of", g.Index, g.Best.Program)
		}
		if i > 0 && g.Before.Program != res.Arms[0].Generations[i-1].Best.Program {
			t.Fatalf("generation %d begins with %q, the one before ended with %q", g.Index, g.Before.Program,
				res.Arms[0].Generations[i-1].Best.Program)
		}
		for _, a := range g.Audits {
			worth, _, _ := parse(a.Program)
			gap, ok := a.Gap()
			switch {
			case a.Demoted:
				demoted++
				if a.Second.Valid && worth > kept || a.Why == "" || g.Best.Program == a.Program {
					t.Fatalf("generation %d demotes %q after one worth %v: %s", g.Index, a.Program, kept, a.Why)
				}
			case worth <= kept:
				t.Fatalf("generation %d keeps %q after one worth %v", g.Index, a.Program, kept)
			case a.Second.Valid && (!ok || math.Abs(gap-(a.Result.Score-worth)) > 1e-9):
				t.Fatalf("the gap of %q is %v, %v", a.Program, gap, ok)
			default:
				kept = worth
			}
		}
	}
	return demoted
}

// Reports alone change nothing that the search does, of any arm.
func TestReportingChangesNothing(t *testing.T) {
	for name, newSearch := range searches {
		budget := evolve.Budget{Rounds: 20}
		plain := run(t, evolve.Config{Budget: budget, Arms: []evolve.Arm{newSearch(t, pairs(t, flattered()), 3)}})
		res := run(t, evolve.Config{Budget: budget, Arms: []evolve.Arm{audited(t, newSearch(t, pairs(t, flattered()), 3),
			audit.Config{By: honest()})}})
		n := 0
		for i := range res.Arms[0].Generations {
			g := &res.Arms[0].Generations[i]
			n += len(g.Audits)
			g.Audits, g.Evaluations = nil, plain.Arms[0].Generations[i].Evaluations
			g.Elapsed = plain.Arms[0].Generations[i].Elapsed
		}
		if n < 3 || res.Evaluations != plain.Evaluations+n {
			t.Errorf("%s: %d audits in %d evaluations, %d without", name, n, res.Evaluations, plain.Evaluations)
		}
		if !reflect.DeepEqual(res.Arms, plain.Arms) {
			t.Errorf("%s: audits that are only reported change the search", name)
		}
	}
}

// A run with audits that is killed after each record of its journal goes on to the result of an undisturbed one, and
// audits no program twice.
func TestKilled(t *testing.T) {
	once := func(path string, by, first *scorer) (*evolve.Result, []byte) {
		var arms []evolve.Arm
		tk := pairs(t, first)
		for seed, name := range []string{"greedy", "Islands"} {
			arms = append(arms, audited(t, searches[name](t, tk, uint32(seed)), audit.Config{By: by, Demote: true}))
		}
		j, err := journal.Open(path, journal.Config{Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		res := run(t, evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, Budget: evolve.Budget{Rounds: 12}, Journal: j})
		for i := range res.Arms {
			for k := range res.Arms[i].Generations {
				res.Arms[i].Generations[k].Elapsed = 0
			}
		}
		data, err := json.Marshal([]any{res.Best, res.Rounds, res.Arms, res.Evaluations})
		if err != nil {
			t.Fatal(err)
		}
		return res, data
	}
	path := filepath.Join(t.TempDir(), "run.journal")
	by := honest()
	_, want := once(path, by, flattered())
	total, most := by.total()
	if total < 5 || most > 1 {
		t.Fatalf("%d audits, %d of one program", total, most)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range killtest.Every(t, path, 3, 7) {
		kept, before := cut.Records, bytes.Count(cut.Kept, []byte(`"evaluation"`))
		by, first := honest(), flattered()
		if _, got := once(cut.Path, by, first); !bytes.Equal(got, want) {
			t.Fatalf("killed after %d records: another result:\n%s\nwant\n%s", kept, got, want)
		}
		a, most := by.total()
		b, mostFirst := first.total()
		if all := bytes.Count(whole, []byte(`"evaluation"`)); a+b != all-before || most > 1 || mostFirst > 1 {
			t.Fatalf("killed after %d records: %d evaluations are made again, want %d", kept, a+b, all-before)
		}
	}
}

// An audit by the score without a tolerance evaluates nothing anew, and keeps no win that a tolerance alone makes.
func TestExactCostsNothing(t *testing.T) {
	lenient := newScorer("lenient", func(good, flattery float64) float64 { return good + flattery })
	e := eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		r, err := lenient.Evaluate(ctx, program)
		if good, _, bad := parse(program); bad == nil {
			r.Metrics = map[string]float64{eval.ExactScore: good}
		}
		return r, err
	})
	tk := pairs(t, e)
	res := run(t, evolve.Config{Budget: evolve.Budget{Rounds: 40},
		Arms: []evolve.Arm{audited(t, searches["greedy"](t, tk, 1), audit.Config{By: eval.Exact(tk), Demote: true})}})
	made, most := lenient.total()
	if demoted := checkAudits(t, res); demoted == 0 || most > 1 || res.Evaluations != made {
		t.Errorf("%d demoted, %d evaluations in the result, %d made, %d of one program", demoted, res.Evaluations, made, most)
	}
}

// An audit that the budget has no room for keeps nothing that was not shown to be better, and ends no run with an error.
func TestNoRoomForAnAudit(t *testing.T) {
	for most := 1; most < 30; most++ {
		by := honest()
		res := run(t, evolve.Config{Budget: evolve.Budget{Evaluations: most, Calls: 200},
			Arms: []evolve.Arm{audited(t, searches["greedy"](t, pairs(t, flattered()), 1), audit.Config{By: by, Demote: true})}})
		if res.Evaluations > most {
			t.Fatalf("%d evaluations of %d", res.Evaluations, most)
		}
		if n, _ := by.total(); n == 0 && res.Best.Program != "0 0" {
			t.Errorf("%d evaluations: %q is kept without an audit", most, res.Best.Program)
		}
		checkAudits(t, res)
	}
}

// An evaluator that cannot be reached ends the run, with its error.
func TestAuditorIsGone(t *testing.T) {
	gone := errors.New("connection refused")
	by := eval.Func(func(context.Context, string) (eval.Result, error) { return eval.Result{}, gone })
	res, err := evolve.Run(t.Context(), evolve.Config{Budget: evolve.Budget{Rounds: 9},
		Arms: []evolve.Arm{audited(t, searches["greedy"](t, pairs(t, flattered()), 1), audit.Config{By: by, Demote: true})}})
	if !errors.Is(err, gone) || res.Stop != evolve.StopError || res.Best.Program != "0 0" {
		t.Errorf("%v, %v, best %q", err, res.Stop, res.Best.Program)
	}
}

// A second evaluator that prints as the search's own is asked all the same.
func TestAuditorThatPrintsAlike(t *testing.T) {
	by := honest()
	by.name = "pairs" // the task's
	j, err := journal.Open(filepath.Join(t.TempDir(), "run.journal"), journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	run(t, evolve.Config{Budget: evolve.Budget{Rounds: 5}, Journal: j,
		Arms: []evolve.Arm{audited(t, searches["greedy"](t, pairs(t, flattered()), 1), audit.Config{By: by})}})
	if n, _ := by.total(); n < 2 {
		t.Errorf("%d audits", n)
	}
}

// lone is an arm that cannot demote and is no Sizer.
type lone struct{ evolve.Arm }

func TestAnyArmIsReported(t *testing.T) {
	greedy := searches["greedy"](t, pairs(t, flattered()), 1)
	arm := audited(t, lone{greedy}, audit.Config{By: honest()})
	if _, ok := arm.(evolve.Sizer); ok {
		t.Error("it has come to say its calls")
	}
	if res := run(t, evolve.Config{Budget: evolve.Budget{Rounds: 9},
		Arms: []evolve.Arm{arm}}); len(res.Arms[0].Generations[0].Audits) < 1 {
		t.Error("no audits")
	}
	if a, ok := audited(t, greedy, audit.Config{By: honest()}).(evolve.Sizer); !ok || a.Calls() != 4 {
		t.Error("it no longer says its calls")
	}
}

func TestWrongConfig(t *testing.T) {
	greedy := searches["greedy"](t, pairs(t, flattered()), 1)
	for want, tt := range map[string]struct {
		arm evolve.Arm
		cfg audit.Config
	}{
		"the arm is nil":   {nil, audit.Config{By: honest()}},
		"Config.By is nil": {greedy, audit.Config{}},
		"whose task is noisy": {noisySearches["greedy"](pairs(t, &noisy{}), 1),
			audit.Config{By: honest(), Demote: true}},
		"N=4, seed=1, Top(8)": {noisySearches["Top(8)"](pairs(t, &noisy{}), 1),
			audit.Config{By: honest(), Demote: true}},
		"which has no method Demote": {lone{greedy}, audit.Config{By: honest(), Demote: true}},
	} {
		if _, err := audit.New(tt.arm, tt.cfg); err == nil || !strings.HasPrefix(err.Error(), "audit: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
