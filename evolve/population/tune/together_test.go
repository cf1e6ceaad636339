package tune_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/task"
)

// shaky is waves with noise that depends on the program and on how often it was evaluated. Scores are multiples of 2⁻²⁰, so
// that means do not depend on the order of samples.
type shaky struct {
	waves
	mu    sync.Mutex
	times map[string]int
}

func (s *shaky) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	r, err := s.waves.Evaluate(ctx, program)
	if err != nil || !r.Valid {
		return r, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(program)
	h := fnv.New64a()
	fmt.Fprint(h, key, s.times[key])
	s.times[key]++
	r.Score = math.Ldexp(math.Round(math.Ldexp(r.Score, 20)), -20) + math.Ldexp(float64(h.Sum64()%256)-128, -12)
	return r, nil
}

// recorded counts the evaluations in a journal as made.
func (s *shaky) recorded(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return
	}
	texts := make(map[string]string)
	for rec, err := range record.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Kind == record.Evaluation && rec.Result.Valid && rec.Result.Metrics["second"] == 0 {
			s.times[keyOf(texts[rec.Program])]++
		}
		if rec.Kind == record.Program {
			texts[rec.Key] = rec.Text
		}
	}
}

func keyOf(program string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(program)))
	return hex.EncodeToString(sum[:])
}

// honest is a second evaluator: waves without noise, which finds half of all programs to be worth nothing.
type honest struct{ waves }

func (h *honest) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	r, err := h.waves.Evaluate(ctx, program)
	if keyOf(program)[0] < '8' {
		r = eval.Invalid("it is an illusion")
	}
	r.Metrics = map[string]float64{"second": 1}
	return r, err
}

func (h *honest) String() string { return "honest" }

// together makes or resumes a run of a search with settings, a Tuner, a noisy task and a second evaluator.
func together(t *testing.T, path string, settings []population.Settings, archive population.Archive) (*evolve.Result, []string) {
	t.Helper()
	var made, second, tunings atomic.Int64
	noisy := &shaky{waves: waves{&made}, times: make(map[string]int)}
	noisy.recorded(t, path)
	tk, err := task.New(task.Spec{Name: "waves", Language: "python", Initial: start, Evaluator: noisy})
	if err != nil {
		t.Fatal(err)
	}
	p, err := population.New(population.Config{Task: tk, LLM: model(t), N: 4, Seed: 8, Window: 1,
		Noise: &evolve.Noise{Fresh: 2}, Archive: archive, Settings: settings,
		Operators: []population.Operator{population.Rewrite{}, population.Cross{},
			&tune.Tuner{On: waves{&tunings}, Evaluations: 60}}})
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(path, journal.Config{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p}, Journal: j,
		Audit: &evolve.Audit{By: &honest{waves{&second}}}, Seed: 1,
		Budget: evolve.Budget{Evaluations: 90, TuneEvaluations: 400, Rounds: 16}})
	if err != nil {
		t.Fatal(err)
	}
	return res, told(res)
}

// told returns what there is to see of a result.
func told(res *evolve.Result) []string {
	of := func(r eval.Result) string {
		se, _ := r.SE()
		return fmt.Sprint(r.Valid, r.Score, r.N(), se, r.Reason)
	}
	rows := []string{fmt.Sprint(res.Best.Program, of(res.Best.Result), of(*res.Fresh), res.Unconfirmed, res.Evaluations,
		res.TuneEvaluations, res.Stop, res.Limit)}
	for _, g := range res.Arms[0].Generations {
		for _, c := range g.Children {
			rows = append(rows, fmt.Sprint(g.Index, c.Index, c.ID, c.Parents, c.Operator, c.Labels, c.Seed, of(c.Result), c.Err))
		}
		rows = append(rows, fmt.Sprint(g.Index, of(g.Best.Result)))
		for _, a := range g.Audits {
			rows = append(rows, fmt.Sprint(a.Candidate.Program, of(a.Candidate.Result), of(a.Second), a.Demoted, a.Why))
		}
	}
	return rows
}

// A search that has everything on at once is killed after records of its journal, and comes to the result of one that nobody
// disturbed. Each best that it ends a step with was audited.
func TestTogether(t *testing.T) {
	settings := []population.Settings{{}, {Explore: 0.5, N: 6},
		{Weights: []float64{1, 1, 3}, Select: population.Uniform()}}
	for name, archive := range map[string]func() population.Archive{
		"bandit": func() population.Archive { return nil },
		"bandit on islands": func() population.Archive {
			return &population.Islands{Of: []population.Archive{population.Top(3), population.Top(3)}, Every: 5, Rate: 0.5}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.journal")
			res, want := together(t, path, settings, archive())
			checkTogether(t, res)
			for cut := range killtest.About(t, path, 2, 25) {
				if _, got := together(t, cut.Path, settings, archive()); !cmp.Equal(want, got) {
					t.Fatalf("cut after record %d of %d it comes to another result:\n%.3000s", cut.Records, cut.Of,
						cmp.Diff(want, got))
				}
			}
		})
	}
}

// checkTogether checks that all parts of the run have done something.
func checkTogether(t *testing.T, res *evolve.Result) {
	t.Helper()
	audited := map[string]bool{}
	settings, again, tuned, doubted := map[string]bool{}, false, 0, 0
	for _, g := range res.Arms[0].Generations {
		for _, c := range g.Children {
			settings[c.Labels["settings"]] = true
			if c.Operator == "tune" && c.Scored() {
				tuned++
			}
		}
		for _, a := range g.Audits {
			audited[strings.TrimSpace(a.Candidate.Program)] = true
			if !a.Second.Valid {
				doubted++
			}
		}
		again = again || g.Best.Result.N() > 1
		if !audited[strings.TrimSpace(g.Best.Program)] {
			t.Errorf("the best of generation %d was not audited: %v", g.Index, g.Best.Result)
		}
	}
	if len(settings) < 3 || !again || tuned == 0 || doubted == 0 || res.Fresh == nil {
		t.Errorf("%d settings, scored again: %v, %d tuned, %d found invalid, fresh %v: the test is about all of them",
			len(settings), again, tuned, doubted, res.Fresh)
	}
}
