package ensemble_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/ensemble"
	"github.com/evoalloc/evoalloc/task"
)

// numbers is a task whose programs are numbers, which are their scores.
func numbers() task.Task { return runtest.Number(task.Spec{Name: "numbers"}) }

// climber adds to the number it is shown in a share of its answers, which depends on the seed.
func climber(share float64) llm.LLM {
	return llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "text")
		if err != nil {
			return llm.Reply{}, err
		}
		v, _ := strconv.ParseFloat(strings.TrimSpace(program), 64)
		if u := float64(req.Seed) / (1 << 32); u < share {
			v += u
		}
		text := fmt.Sprintf("```text\n%v\n```", v)
		return llm.Reply{Text: text, Attempts: []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{CompletionTokens: 5}}}}, nil
	})
}

// life plays a greedy run of ten generations of twelve with a journal at path, until the model has been
// asked so many times, and returns its generations and what the ensemble says of itself.
func life(t *testing.T, path string, calls int) ([]evolve.Generation, ensemble.Report) {
	e, err := ensemble.New(ensemble.Config{Seed: 3, Policy: bandit.WithFloor(&bandit.GaussianThompson{Sigma: 0.4}, 0.05),
		Members: []ensemble.Member{{Model: model("weak", 1), LLM: climber(0.1)},
			{Model: model("strong", 2), LLM: climber(0.6)}}})
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(path, journal.Config{Resume: true, Fingerprint: journal.Fingerprint{"run": "ensemble"}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	ctx, kill := context.WithCancelCause(t.Context())
	defer kill(nil)
	asked := 0
	mortal := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if asked++; asked > calls {
			kill(errors.New("killed"))
			<-ctx.Done()
			return llm.Reply{}, ctx.Err()
		}
		return e.Generate(ctx, req)
	})
	// The limit of one serves asked too.
	model := (llm.Limit(unwrapping{mortal, e}, 1))
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: (numbers()), LLM: model, N: 12, Seed: 40})
	if err != nil {
		t.Fatal(err)
	}
	var gens []evolve.Generation
	_, err = evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 10}, Journal: j,
		Observer: func(ev evolve.Event) {
			if ev.Kind == evolve.EventGeneration && !ev.Generation.Partial {
				gens = append(gens, ev.Generation)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	return gens, e.Report()
}

// unwrapping is an LLM that says what it wraps.
type unwrapping struct {
	llm.LLM
	inner llm.LLM
}

func (u unwrapping) Unwrap() llm.LLM { return u.inner }

// A run that is killed and goes on from its journal makes the choices that it would have made.
func TestEnsembleInAJournaledRun(t *testing.T) {
	want, report := life(t, filepath.Join(t.TempDir(), "whole.jsonl"), 1000)
	if len(want) != 10 || report.Members[1].Learned <= report.Members[0].Learned {
		t.Fatalf("%d generations\n%v", len(want), report)
	}
	path := filepath.Join(t.TempDir(), "killed.jsonl")
	life(t, path, 50)
	life(t, path, 31)
	got, again := life(t, path, 1000)
	diff := cmp.Diff(want, got, cmpopts.IgnoreFields(evolve.Generation{}, "Elapsed"), cmpopts.EquateEmpty())
	if diff != "" {
		t.Errorf("(-undisturbed +killed twice)\n%s", diff)
	}
	for i, m := range again.Members {
		if w := report.Members[i]; m.Learned != w.Learned || m.MeanReward != w.MeanReward || m.Calls >= w.Calls {
			t.Errorf("the last life learned %+v, an undisturbed one %+v", m, w)
		}
	}
}
