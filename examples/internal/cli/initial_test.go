package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// scoredBy returns what a run is made of: a task of which evaluate scores the programs, and a model that
// fails the test if it is asked.
func scoredBy(t *testing.T, evaluate eval.Func) *Setup {
	t.Helper()
	own, err := task.New(task.Spec{Name: "own", Language: "text", System: "s", Initial: "first", Evaluator: evaluate})
	if err != nil {
		t.Fatal(err)
	}
	return &Setup{Task: own, LLM: llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		t.Error("the model was asked")
		return llm.Reply{}, errors.New("no")
	})}
}

// Where the initial program is invalid, what an earlier run left stays as it is, and no journal is made.
func TestOpenJournalOfAnInvalidProgram(t *testing.T) {
	for _, anew := range []bool{false, true} {
		dir := fill(t, "r.json", "r.txt")
		s := Saver{filepath.Join(dir, "r.json"), ".txt"}
		o := Options{Anew: anew}
		setup := scoredBy(t, func(context.Context, string) (eval.Result, error) { return eval.Invalid("the ruler is lost"), nil })
		_, err := o.OpenJournal(t.Context(), setup, s, nil)
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), "task own is invalid: the ruler is lost; nothing was asked") {
			t.Errorf("error %v", err)
		}
		if left := strings.Join(held(t, dir), " "); left != "r.json r.txt" {
			t.Errorf("left %s", left)
		}
	}
}

// Ctrl-C in the evaluation ends it as it ends a run; what else fails is told.
func TestTryInitialFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := scoredBy(t, func(ctx context.Context, _ string) (eval.Result, error) {
		cancel()
		return eval.Result{}, ctx.Err()
	})
	if err := s.tryInitial(ctx); !errors.Is(err, ErrCanceled) {
		t.Errorf("stopped: %v", err)
	}
	broken := errors.New("no interpreter")
	s = scoredBy(t, func(context.Context, string) (eval.Result, error) { return eval.Result{}, broken })
	if err := s.tryInitial(t.Context()); !errors.Is(err, broken) {
		t.Errorf("broken: %v", err)
	}
}

// The initial program is evaluated once, and its result stands in the journal.
func TestInitialIsEvaluatedOnce(t *testing.T) {
	times := map[string]int{}
	setup := scoredBy(t, func(_ context.Context, program string) (eval.Result, error) {
		times[program]++
		return eval.Result{Valid: true, Score: float64(len(program))}, nil
	})
	o := Options{}
	s := Saver{filepath.Join(t.TempDir(), "r.json"), ".txt"}
	j, err := o.OpenJournal(t.Context(), setup, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	another := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{Text: "another"}, nil })
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: setup.Task, LLM: another, N: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Calls: 1}, Journal: j})
	if err != nil || r.Arms[0].Start.Result.Score != 5 || r.Best.Result.Score != 7 {
		t.Errorf("%+v, %v", r, err)
	}
	if times["first"] != 1 || times["another"] != 1 {
		t.Errorf("evaluations: %v", times)
	}
	scores := 0.0
	for r, err := range journal.Read(j.Path()) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == journal.Evaluation {
			scores += r.Result.Score
		}
	}
	if scores != 12 {
		t.Errorf("the journal's scores add up to %v, want 12", scores)
	}
}
