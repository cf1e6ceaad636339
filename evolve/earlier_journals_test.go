package evolve_test

import (
	"bytes"
	"context"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

var writeJournals = flag.Bool("write-journals", false,
	"TestEarlierJournals writes those journals in testdata/earlier that are missing")

// sampled scores numbers with noise that the number and the sample decide.
type sampled struct{}

func (sampled) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return sampled{}.EvaluateSample(ctx, program, 0)
}

func (sampled) EvaluateSample(_ context.Context, program string, sample int) (eval.Result, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
	if err != nil {
		return eval.Invalid("not a number"), nil
	}
	return eval.Result{Valid: true, Score: v + 0.1*math.Sin(1e4*v+float64(sample)),
		Artifacts: map[string]string{"log": "sample " + strconv.Itoa(sample)}}, nil
}

// earlierKinds are the arms of the runs whose journals are in testdata/earlier.
var earlierKinds = map[string]func(t *testing.T, l llm.LLM) []evolve.Arm{
	"bandit": func(t *testing.T, l llm.LLM) []evolve.Arm {
		return earlierGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: l, N: 3, Seed: 40}, 2)
	},
	"noisy": func(t *testing.T, l llm.LLM) []evolve.Arm {
		tk, err := task.New(task.Spec{Name: "sampled", Language: "text", Initial: "0", Evaluator: sampled{}})
		if err != nil {
			t.Fatal(err)
		}
		return []evolve.Arm{newNoisy(t, population.Config{Task: tk, LLM: l, N: 3, Seed: 40,
			Noise: &evolve.Noise{Rescore: 0.5, Fresh: 2}})}
	},
	"judged": func(t *testing.T, l llm.LLM) []evolve.Arm {
		return earlierGreedy(t, evolve.GreedyConfig{Task: asked(newNumbers(t, "0"), instant), LLM: l, N: 3, Seed: 40}, 2)
	},
	"tuned": func(t *testing.T, _ llm.LLM) []evolve.Arm {
		return []evolve.Arm{&tunes{t: t, e: length{&atomic.Int64{}}, programs: []string{"a", "bb", "ccc", "a"}}}
	},
	"steady": func(t *testing.T, l llm.LLM) []evolve.Arm {
		return earlierGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: l, N: 9, Seed: 40, Window: 3,
			Order: evolve.AsTheyEnd}, 1)
	},
}

// earlierGreedy returns strict searches, as all were that have no word on it in their journals.
func earlierGreedy(t *testing.T, cfg evolve.GreedyConfig, k int) []evolve.Arm {
	cfg.Strict = true
	list, err := evolve.GreedyArms(cfg, k)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// earlierRun makes or resumes a run of a kind with the journal at path, "" for none, and returns how many calls it sent.
func earlierRun(t *testing.T, kind, path string) (res *evolve.Result, sent int64) {
	t.Helper()
	var calls atomic.Int64
	counted := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		calls.Add(1)
		return climber.Generate(ctx, req)
	})
	cfg := evolve.Config{Arms: earlierKinds[kind](t, counted), Policy: &bandit.UCB1{C: 1}, Reward: evolve.RawScore,
		Budget: evolve.Budget{Calls: 18, TuneEvaluations: 9}, Seed: 3}
	if kind == "judged" {
		cfg.Budget = evolve.Budget{Rounds: 5}
	}
	if path != "" {
		j := openJournal(t, path)
		defer j.Close()
		cfg.Journal = j
	}
	return mustRun(t, cfg), calls.Load()
}

// Journals of an earlier version of the library, of each kind of run, go on from wherever they were cut to the result of
// a run without a journal, and nothing that they hold is asked for again.
func TestEarlierJournals(t *testing.T) {
	for kind := range earlierKinds {
		t.Run(kind, func(t *testing.T) {
			whole := filepath.Join("testdata", "earlier", kind+".journal")
			if _, err := os.Stat(whole); *writeJournals && err != nil {
				earlierRun(t, kind, whole)
			}
			data, err := os.ReadFile(whole)
			if err != nil {
				t.Fatal(err)
			}
			want, most := earlierRun(t, kind, "")
			lines := bytes.SplitAfter(data, []byte("\n"))
			for _, kept := range []int{4, len(lines) / 3, len(lines) * 2 / 3, len(lines) - 4, len(lines)} {
				path := filepath.Join(t.TempDir(), "run.journal")
				held := bytes.Join(lines[:kept], nil)
				if err := os.WriteFile(path, held, 0o600); err != nil {
					t.Fatal(err)
				}
				for range 2 { // goes on, and is made again
					got, sent := earlierRun(t, kind, path)
					if answered := int64(bytes.Count(held, []byte(`"kind":"completion"`))); sent > max(0, most-answered) &&
						kind != "judged" {
						t.Errorf("%d lines kept: %d calls sent, %d of %d are in the file", kept, sent, answered, most)
					}
					if got.Calls != want.Calls || got.Evaluations != want.Evaluations || got.TuneEvaluations != want.TuneEvaluations ||
						got.Stop != want.Stop {
						t.Errorf("%d lines kept: %d calls, %d and %d evaluations, %s, want %d, %d, %d, %s", kept, got.Calls,
							got.Evaluations, got.TuneEvaluations, got.Stop,
							want.Calls, want.Evaluations, want.TuneEvaluations, want.Stop)
					}
					if diff := cmp.Diff(want.Best, got.Best); diff != "" && kind != "steady" { // in which what ends first decides
						t.Errorf("%d lines kept: another best:\n%s", kept, diff)
					}
					if held, err = os.ReadFile(path); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}
