package record_test

import (
	"context"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // torn ends are what is tested here
	if path := os.Getenv(followedPath); path != "" {
		if err := followedRun(path); err != nil {
			log.Fatal(err)
		}
		os.Exit(0)
	}
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

// finished makes a run of five rounds with a journal at path.
func finished(path string) error {
	j, err := record.Open(path, record.Config{})
	if err != nil {
		return err
	}
	defer j.Close()
	_, err = evolve.Run(context.Background(), evolve.Config{
		Arms: search(sum(), adder), Budget: evolve.Budget{Rounds: 5}, Journal: (*journal.Journal)(j),
	})
	return err
}

// scratch makes a folder for an example, which remove takes away.
func scratch() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(dir, "run.journal"), func() { os.RemoveAll(dir) }
}
