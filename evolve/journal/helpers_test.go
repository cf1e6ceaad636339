package journal_test

import (
	"context"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // torn ends are what is tested here
	os.Exit(m.Run())
}

// sum is a task whose programs are lists of numbers, scored by minus the distance of their sum to 100.
func sum() task.Task { return runtest.Sum(task.Spec{}, 100) }

// adder is a model that adds a number to the program it is shown.
var adder = runtest.Adder

// search is a greedy search of four children a step.
func search(t task.Task, model llm.LLM) []evolve.Arm {
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: t, LLM: llm.Limit(model, 1), N: 4, Seed: 40})
	if err != nil {
		log.Fatal(err)
	}
	return []evolve.Arm{g}
}

// durable makes a run of five rounds with the journal at path, or goes on with it, and stops it after so many. It
// returns what came of it and how many calls reached the model.
func durable(path string, rounds int, fp journal.Fingerprint) (*evolve.Result, int, error) {
	j, err := journal.Open(path, journal.Config{Fingerprint: fp, Resume: true})
	if err != nil {
		return nil, 0, err
	}
	defer j.Close()
	asked := 0
	counted := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		asked++
		return adder(ctx, req)
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result, err := evolve.Run(ctx, evolve.Config{
		Arms: search(sum(), counted), Budget: evolve.Budget{Rounds: 5}, Journal: j,
		Observer: func(e evolve.Event) {
			if e.Kind == evolve.EventGeneration && e.Generation.Index == rounds {
				cancel()
			}
		},
	})
	return result, asked, err
}

// scratch makes a folder for an example, which remove takes away.
func scratch() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(dir, "run.journal"), func() { os.RemoveAll(dir) }
}
