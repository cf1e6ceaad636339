package history_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// journaled makes a run of five rounds of four children with a journal, which remove takes away.
func journaled() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "history")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, "run.journal")
	j, err := journal.Open(path, journal.Config{Command: "sum --rounds 5"})
	if err != nil {
		log.Fatal(err)
	}
	search, err := evolve.NewGreedy(evolve.GreedyConfig{Task: runtest.Sum(task.Spec{}, 100),
		LLM: llm.Limit(runtest.Adder, 1), N: 4, Seed: 40})
	if err != nil {
		log.Fatal(err)
	}
	_, err = evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{search}, Budget: evolve.Budget{Rounds: 5},
		Journal: j})
	if err := errors.Join(err, j.Close()); err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

// A run as its journal has it: what became of its children, where the best comes from, and what it had spent.
func ExampleRead() {
	path, remove := journaled()
	defer remove()
	run, err := history.Read(path)
	if err != nil {
		log.Fatal(err)
	}
	states := map[books.State]int{}
	for _, c := range run.Children {
		states[c.State]++
	}
	fmt.Println(run.Command, "began with", run.Arms[0].Start.Value)
	for _, row := range run.Line(run.Best[0], 3) {
		c := run.Children[row]
		fmt.Printf("round %d: made by %s, scores %v\n", c.Round, cmp.Or(c.Operator, history.PlainRewrite), c.Proposal.Score)
	}
	spent := run.Budget.Spent
	fmt.Println(states[books.StateValid], "valid,", spent.Calls, "calls,", spent.Evaluations, "evaluations:",
		run.Words(nil))
	// Output:
	// sum --rounds 5 began with -94
	// round 2: made by rewrite, scores -79
	// round 3: made by rewrite, scores -70
	// round 4: made by rewrite, scores -62
	// 20 valid, 20 calls, 16 evaluations: its limit of Rounds ended it
}

// A program that shows a run reads its journal while another process writes it.
func ExampleFollow() {
	path, remove := journaled()
	defer remove()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for run, err := range history.Follow(ctx, path) {
		if err != nil {
			log.Fatal(err)
		}
		for _, t := range run.Totals().By(history.ByOperator) {
			fmt.Println(t.Name, t.Children, "children, valid", t.Valid, "calls", t.Cost.Calls)
		}
		if run.Stop != "" {
			stop() // else it is yielded again when there is more
		}
	}
	// Output:
	// rewrite 20 children, valid 20 calls 20
}
