package hints_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// asked is a model that adds a line to the loop of a Go program, and keeps what it was asked.
type asked struct {
	mu      sync.Mutex
	prompts []string
	left    int // answers until it stops the run; 0: never
	stop    context.CancelFunc
}

func (a *asked) Generate(_ context.Context, req llm.Request) (llm.Reply, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	prompt := req.Messages[len(req.Messages)-1].Content
	a.prompts = append(a.prompts, fmt.Sprint(req.Seed, prompt))
	if a.left--; a.left == 0 {
		a.stop()
	}
	program, err := task.ParseProgram(prompt, "go")
	if err != nil {
		return llm.Reply{}, err
	}
	line := fmt.Sprintf("\t\tkept = append(kept, make([]byte, %d))\n\t}", 64+req.Seed%64)
	text := task.Fence(strings.Replace(program, "\t}", line, 1), "go")
	return llm.Reply{Text: text, Attempts: []llm.Attempt{{Status: llm.OK, FinishReason: "stop"}}}, nil
}

const growing = "package p\n\nvar kept [][]byte\n\nfunc F(xs []int) {\n\tfor range xs {\n\t}\n}\n"

// search runs six generations of three children on a journal, with hints of its own.
func search(t *testing.T, path string, model *asked, resume bool) *evolve.Result {
	t.Helper()
	longest, err := task.New(task.Spec{Name: "growing", Language: "go", Initial: growing, Evaluator: eval.Func(
		func(_ context.Context, program string) (eval.Result, error) {
			return eval.Result{Valid: true, Score: float64(len(program))}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: task.WithHints(longest, newGo(t)), LLM: model, N: 3,
		Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(path, journal.Config{Resume: resume})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	model.stop = cancel
	r, err := evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 6}, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A run that is stopped and goes on asks what one asks that was not: hints are made again by another compiler's process.
func TestResumedRunAsksTheSame(t *testing.T) {
	var whole, first, second asked
	dir := t.TempDir()
	want := search(t, filepath.Join(dir, "whole"), &whole, false)
	first.left = 7
	if r := search(t, filepath.Join(dir, "stopped"), &first, false); r.Stop != evolve.StopCanceled {
		t.Fatalf("the run ended by %v", r.Stop)
	}
	got := search(t, filepath.Join(dir, "stopped"), &second, true)
	if got.Best.Program != want.Best.Program || got.Stop != want.Stop {
		t.Errorf("the resumed run found %q, want %q", got.Best.Program, want.Best.Program)
	}
	once := func(prompts []string) []string {
		seen := map[string]bool{}
		for _, p := range prompts {
			seen[p] = true
		}
		var all []string
		for p := range seen {
			all = append(all, p)
		}
		sort.Strings(all)
		return all
	}
	if a, b := once(whole.prompts), once(append(first.prompts, second.prompts...)); !reflect.DeepEqual(a, b) {
		t.Errorf("the resumed run asked %d different prompts, and the whole one %d", len(b), len(a))
	}
	if len(second.prompts) == 0 || len(second.prompts) >= len(whole.prompts) {
		t.Errorf("the resumed run asked %d prompts of %d", len(second.prompts), len(whole.prompts))
	}
	if last := whole.prompts[len(whole.prompts)-1]; !strings.Contains(last, "allocates on the heap in each pass") {
		t.Errorf("the last prompt has no hints of the compiler: %s", last)
	}
}
