package evolve_test

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
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A program of these tests is a pair of numbers: how good it is, and how much its evaluator flatters it. The search sees
// their sum, and a second evaluator sees the first.
func parsePair(program string) (good, flattery float64, err error) {
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
	good, flattery, err := parsePair(program)
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
	good, flattery, err := parsePair(program)
	if err != nil {
		return llm.Reply{}, err
	}
	r := rand.New(rand.NewPCG(uint64(req.Seed), 0))
	good, flattery = good+0.1*r.NormFloat64()-0.05, flattery+0.3*r.NormFloat64()-0.15
	return llm.Reply{Text: fmt.Sprintf("```text\n%.6f %.6f\n```", good, flattery),
		Attempts: []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 9, CompletionTokens: 9}}}}, nil
})

// auditable are those that can demote.
var auditable = map[string]func(t testing.TB, tk task.Task, seed uint32) evolve.Arm{
	"strict": func(t testing.TB, tk task.Task, seed uint32) evolve.Arm {
		return mustArm(evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: wanderer, N: 4, Seed: seed, Strict: true}))
	},
	"greedy": func(t testing.TB, tk task.Task, seed uint32) evolve.Arm {
		return mustArm(evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: wanderer, N: 4, Seed: seed, Window: 2}))
	},
	"Top(1)": populationOf(func() population.Archive { return population.Top(1) }),
	"Top(8)": populationOf(func() population.Archive { return population.Top(8) }),
	"Drift":  populationOf(population.Drift),
	"Islands": populationOf(func() population.Archive {
		return &population.Islands{Of: []population.Archive{population.Top(1), population.Top(3)}}
	}),
}

func populationOf(archive func() population.Archive) func(testing.TB, task.Task, uint32) evolve.Arm {
	return func(t testing.TB, tk task.Task, seed uint32) evolve.Arm {
		return mustArm(population.New(population.Config{Task: tk, LLM: wanderer, N: 4, Seed: seed, Archive: archive()}))
	}
}

func mustArm[A evolve.Arm](arm A, err error) evolve.Arm {
	if err != nil {
		panic(err)
	}
	return arm
}

func runAudited(t testing.TB, cfg evolve.Config) *evolve.Result {
	t.Helper()
	res, err := evolve.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// good returns what a result's best is worth.
func worth(t testing.TB, r *evolve.Result) float64 {
	t.Helper()
	v, _, err := parsePair(r.Best.Program)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// No best that a run has kept is worth less than the one before it, in any search that can demote, and a search that is
// flattered falls behind its own audited twin.
func TestDemotionKeepsAnOverfittingSearchHonest(t *testing.T) {
	for name, newSearch := range auditable {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var gain []float64
			demoted := 0
			seeds := notrun.Length(uint32(10), 20)
			for seed := range seeds {
				budget := evolve.Budget{Evaluations: 100, Calls: 200}
				plain := runAudited(t, evolve.Config{Budget: budget, Arms: []evolve.Arm{newSearch(t, pairs(t, flattered()), seed)}})
				res := runAudited(t, evolve.Config{Budget: budget, Arms: []evolve.Arm{newSearch(t, pairs(t, flattered()), seed)},
					Audit: &evolve.Audit{By: honest(), Demote: true}})
				if res.Evaluations != plain.Evaluations {
					t.Fatalf("%d evaluations with audits, %d without", res.Evaluations, plain.Evaluations)
				}
				demoted += checkAudits(t, res)
				gain = append(gain, worth(t, res)-worth(t, plain))
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
			value, _, _ := parsePair(a.Program)
			gap, ok := a.Gap()
			switch {
			case a.Demoted:
				demoted++
				if a.Second.Valid && value > kept || a.Why == "" || g.Best.Program == a.Program {
					t.Fatalf("generation %d demotes %q after one worth %v: %s", g.Index, a.Program, kept, a.Why)
				}
			case value <= kept:
				t.Fatalf("generation %d keeps %q after one worth %v", g.Index, a.Program, kept)
			case a.Second.Valid && (!ok || math.Abs(gap-(a.Result.Score-value)) > 1e-9):
				t.Fatalf("the gap of %q is %v, %v", a.Program, gap, ok)
			default:
				kept = value
			}
		}
	}
	return demoted
}

// Reports alone change nothing that the search does, of any arm.
func TestReportingChangesNothing(t *testing.T) {
	for name, newSearch := range auditable {
		budget := evolve.Budget{Rounds: 20}
		plain := runAudited(t, evolve.Config{Budget: budget, Arms: []evolve.Arm{newSearch(t, pairs(t, flattered()), 3)}})
		res := runAudited(t, evolve.Config{Budget: budget, Arms: []evolve.Arm{newSearch(t, pairs(t, flattered()), 3)},
			Audit: &evolve.Audit{By: honest()}})
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
func TestKilledWithAudits(t *testing.T) {
	once := func(path string, by, first *scorer) (*evolve.Result, []byte) {
		var arms []evolve.Arm
		tk := pairs(t, first)
		for seed, name := range []string{"greedy", "Islands"} {
			arms = append(arms, auditable[name](t, tk, uint32(seed)))
		}
		j, err := journal.Open(path, journal.Config{Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		res := runAudited(t, evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, Budget: evolve.Budget{Rounds: 12}, Journal: j,
			Audit: &evolve.Audit{By: by, Demote: true}})
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

// An audit that the budget has no room for keeps nothing that was not shown to be better, and ends no run with an error.
func TestNoRoomForAnAudit(t *testing.T) {
	for most := 1; most < 30; most++ {
		by := honest()
		res := runAudited(t, evolve.Config{Budget: evolve.Budget{Evaluations: most, Calls: 200},
			Arms: []evolve.Arm{auditable["greedy"](t, pairs(t, flattered()), 1)}, Audit: &evolve.Audit{By: by, Demote: true}})
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
		Arms: []evolve.Arm{auditable["greedy"](t, pairs(t, flattered()), 1)}, Audit: &evolve.Audit{By: by, Demote: true}})
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
	runAudited(t, evolve.Config{Budget: evolve.Budget{Rounds: 5}, Journal: j,
		Arms: []evolve.Arm{auditable["greedy"](t, pairs(t, flattered()), 1)}, Audit: &evolve.Audit{By: by}})
	if n, _ := by.total(); n < 2 {
		t.Errorf("%d audits", n)
	}
}

// lone is an arm that cannot demote and is no Sizer.
type lone struct{ evolve.Arm }

func TestAnyArmIsReported(t *testing.T) {
	arm := lone{auditable["greedy"](t, pairs(t, flattered()), 1)}
	res := runAudited(t, evolve.Config{Budget: evolve.Budget{Rounds: 9}, Arms: []evolve.Arm{arm},
		Audit: &evolve.Audit{By: honest()}})
	if len(res.Arms[0].Generations[0].Audits) < 1 {
		t.Error("no audits")
	}
}

func TestWrongAudit(t *testing.T) {
	greedy := auditable["greedy"](t, pairs(t, flattered()), 1)
	for _, tt := range []struct {
		arm   evolve.Arm
		audit evolve.Audit
		want  string
	}{
		{greedy, evolve.Audit{}, "Config.Audit.By is nil"},
		{noisySearches["greedy"](pairs(t, &noisyPairs{}), 1), evolve.Audit{By: honest(), Demote: true}, "rescores"},
		{lone{greedy}, evolve.Audit{By: honest(), Demote: true}, "no method Demote"},
	} {
		_, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{tt.arm}, Budget: evolve.Budget{Rounds: 1},
			Audit: &tt.audit})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

// A run with audits does not go on without them, or with others.
func TestResumeWithAnotherAudit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	for i, audit := range []*evolve.Audit{{By: honest()}, {By: honest(), Demote: true}, {By: flattered()}, nil} {
		j, err := journal.Open(path, journal.Config{Resume: i > 0})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		_, err = evolve.Run(t.Context(), evolve.Config{Budget: evolve.Budget{Rounds: 2}, Journal: j, Audit: audit,
			Arms: []evolve.Arm{auditable["greedy"](t, pairs(t, flattered()), 1)}})
		if i == 0 && err != nil || i > 0 && !errors.Is(err, journal.ErrDiverged) {
			t.Errorf("audit %d: %v", i, err)
		}
		j.Close()
	}
}

// The cases that a task holds out are one second evaluator; a task without any ends the run.
func TestHeldOutAudits(t *testing.T) {
	plain := pairs(t, flattered())
	if _, err := (evolve.HeldOut{Task: plain}).Evaluate(t.Context(), "1 1"); err == nil {
		t.Error("no error for a task without held-out cases")
	}
	r, err := evolve.HeldOut{Task: examined{plain}}.Evaluate(t.Context(), "1 2")
	if err != nil || r.Score != 1 {
		t.Errorf("%+v, %v; want a score of 1", r, err)
	}
}

// examined is a task whose held-out score is honest.
type examined struct{ task.Task }

func (examined) HeldOut(ctx context.Context, program string) (eval.Result, error) {
	return honest().Evaluate(ctx, program)
}

// A noisyPairs scores pairs as flattered does, and the k-th time that it is asked for one with noise of its own.
type noisyPairs struct {
	seed uint64
	mu   sync.Mutex
	seen map[string]int
}

func (n *noisyPairs) String() string { return "noisy" }

func (n *noisyPairs) Evaluate(_ context.Context, program string) (eval.Result, error) {
	good, flattery, err := parsePair(program)
	if err != nil {
		return eval.Invalid("not a pair: %v", err), nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = map[string]int{}
	}
	n.seen[program]++
	r := rand.New(rand.NewPCG(n.seed+uint64(n.seen[program]), uint64(int64(1e6*good))^uint64(int64(1e6*flattery))<<20))
	return eval.Result{Valid: true, Score: good + flattery + 0.4*r.NormFloat64()}, nil
}

// noisySearches score programs again.
var noisySearches = map[string]func(tk task.Task, seed uint32) evolve.Arm{
	"greedy": func(tk task.Task, seed uint32) evolve.Arm {
		return mustArm(population.New(population.Config{Task: tk, LLM: wanderer, N: 4, Seed: seed,
			Noise: &evolve.Noise{Rescore: 1}}))
	},
	"steady": func(tk task.Task, seed uint32) evolve.Arm {
		return mustArm(population.New(population.Config{Task: tk, LLM: wanderer, N: 8, Seed: seed,
			Noise: &evolve.Noise{Rescore: 1}, Window: 3}))
	},
	"Top(8)": noisyPopulationOf(func() population.Archive { return population.Top(8) }),
	"Islands": noisyPopulationOf(func() population.Archive {
		return &population.Islands{Of: []population.Archive{population.Top(3), population.Top(3)}}
	}),
}

func noisyPopulationOf(archive func() population.Archive) func(tk task.Task, seed uint32) evolve.Arm {
	return func(tk task.Task, seed uint32) evolve.Arm {
		return mustArm(population.New(population.Config{Task: tk, LLM: wanderer, N: 4, Seed: seed, Archive: archive(),
			Noise: &evolve.Noise{Rescore: 1}}))
	}
}

// Reports alone take nothing from what a noisy search claims.
func TestNoisySearchIsReported(t *testing.T) {
	for name, newSearch := range noisySearches {
		res := runAudited(t, evolve.Config{Arms: []evolve.Arm{newSearch(pairs(t, &noisyPairs{seed: 7}), 7)},
			Budget: evolve.Budget{Evaluations: 120}, Audit: &evolve.Audit{By: honest()}})
		audits := 0
		for _, g := range res.Arms[0].Generations {
			for _, a := range g.Audits {
				if audits++; a.Demoted || !a.Second.Valid {
					t.Errorf("%s: %s", name, fmt.Sprintf("%+v", a))
				}
			}
		}
		if audits < 3 || res.Fresh == nil || res.Fresh.N() != 8 || res.Evaluations > 120 {
			t.Errorf("%s: %d audits, %d evaluations, fresh samples %+v", name, audits, res.Evaluations, res.Fresh)
		}
	}
}

// A best that is demoted takes along what the search has drifted to at a tie with it. So greedy search and a population of
// one program go on alike, from the best before.
func TestDemoteTakesTiesBack(t *testing.T) {
	demoted := 0
	seeds := notrun.Length(12, 40)
	for seed := range uint32(seeds) {
		var runs [2]string
		for i := range runs {
			tk := pairs(t, newScorer("steps", func(good, flattery float64) float64 { return math.Floor(4 * (good + flattery)) }))
			arm := mustArm(evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: wanderer, N: 6, Window: 2, Seed: seed}))
			if i == 1 {
				arm = mustArm(population.New(population.Config{Task: tk, LLM: wanderer, N: 6, Window: 2, Seed: seed}))
			}
			res := runAudited(t, evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 20},
				Audit: &evolve.Audit{By: honest(), Demote: true}})
			for _, g := range res.Arms[0].Generations {
				for _, a := range g.Audits {
					if a.Demoted {
						demoted++
					}
				}
				for _, c := range g.Children {
					runs[i] += fmt.Sprintf("step %d, child %d of %v: %s\n", g.Index, c.ID, c.Parents, c.Program)
				}
			}
		}
		if runs[0] != runs[1] {
			t.Fatalf("seed %d: greedy search\n%s\nand the population\n%s", seed, runs[0], runs[1])
		}
	}
	if demoted < seeds*5/2 {
		t.Errorf("%d bests were demoted, so the test sees little", demoted)
	}
}

// A search whose evaluator is too kind to some programs, and the second one that says so.
func ExampleAudit() {
	tk := pairs(nil, flattered())
	greedy, err := evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: wanderer, N: 4, Seed: 1})
	if err != nil {
		panic(err)
	}
	res, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{greedy},
		Budget: evolve.Budget{Rounds: 5}, Audit: &evolve.Audit{By: honest(), Demote: true}})
	if err != nil {
		panic(err)
	}
	for _, g := range res.Arms[0].Generations {
		for _, a := range g.Audits {
			fmt.Printf("generation %d: %.3f, audited %.3f, demoted: %v\n", g.Index, a.Result.Score, a.Second.Score, a.Demoted)
		}
	}
	// Output:
	// generation 1: 0.000, audited 0.000, demoted: false
	// generation 2: 0.738, audited -0.042, demoted: true
	// generation 3: 0.429, audited 0.115, demoted: false
	// generation 5: 0.870, audited 0.185, demoted: false
}
