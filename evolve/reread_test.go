package evolve_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A reader reads replies as an earlier version does, or as a later one.
type reader struct {
	task.Task
	later bool
}

func (r reader) ParseReply(reply task.Reply) (program, mended string, err error) {
	if r.later {
		return task.Parse(r.Task, reply)
	}
	if strings.Contains(reply.Text, "cccc") {
		return "", "", errors.New("no program as yet")
	}
	reply.Form = task.AsFirst
	return task.Parse(r.Task, reply)
}

// A journal by a version that read replies in another way goes on as it began, and asks for nothing again.
func TestRecalledRepliesAreReadAsTheyWere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	of, err := task.New(task.Spec{Name: "texts", Initial: "x", Evaluator: eval.Func(
		func(_ context.Context, program string) (eval.Result, error) {
			return eval.Result{Valid: true, Score: float64(len(program))}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	programs := func(later bool) (all []string) {
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			asked++
			return ok("```\naa\n```\n```\n"+strings.Repeat("bc"[req.Seed%2:][:1], 4)+"\n```", req.Seed), nil
		})
		arm := newGreedy(t, evolve.GreedyConfig{Task: reader{of, later}, LLM: model, N: 1})
		arm.OnChild = func(c evolve.Child) { all = append(all, c.Program) }
		j := openJournal(t, path)
		defer j.Close()
		_, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Journal: j,
			Budget: evolve.Budget{Calls: 12}})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := strings.Join(programs(false), ",")
	if got := strings.Join(programs(true), ","); got != want || asked != 12 || !strings.Contains(want, "aa") ||
		!strings.Contains(want, ",,") {
		t.Errorf("resumed, after %d calls, the programs are %q, and were %q", asked, got, want)
	}
}
