package sweep_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// seeds returns n seeds from 40 on.
func seeds(n int) (list []uint32) {
	for i := range n {
		list = append(list, uint32(40+i))
	}
	return list
}

// grid is a plan of number and guess.
func grid(n int, budgets []int, methods ...sweep.Method) sweep.Plan {
	return sweep.Plan{Tasks: []task.Task{number()}, Models: []sweep.Model{guess()}, Methods: methods, Budgets: budgets,
		Seeds: seeds(n)}
}

// made makes the sweep, which must come to its end.
func made(t *testing.T, p sweep.Plan, cfg sweep.Config) *sweep.Result {
	t.Helper()
	r, err := p.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Unfinished) > 0 || r.Left > 0 {
		t.Fatalf("%d runs are unfinished, %d left", len(r.Unfinished), r.Left)
	}
	return r
}

// saved reads the result of a run of one search.
func saved(t *testing.T, dir string, r sweep.Trial) (g report.Greedy) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, r.Path(".json")))
	if err == nil {
		err = json.Unmarshal(data, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A counter counts the calls of a model by seed.
type counter struct {
	mu    sync.Mutex
	calls map[uint32]int
	sum   int
}

// counted returns a model that counts its calls. before, if not nil, is called with how many there were before each, and
// may fail it.
func counted(m sweep.Model, before func(ctx context.Context, n int) error) (sweep.Model, *counter) {
	c := &counter{calls: map[uint32]int{}}
	inner := m.LLM
	m.LLM = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		c.mu.Lock()
		c.calls[req.Seed]++
		n := c.sum
		c.sum++
		c.mu.Unlock()
		if before != nil {
			if err := before(ctx, n); err != nil {
				status := llm.Failed
				if errors.Is(err, context.Canceled) {
					status = llm.Canceled
				}
				return llm.Reply{Attempts: []llm.Attempt{{Status: status, Kind: llm.KindServer, Err: err.Error()}}},
					&llm.Error{Status: status, Kind: llm.KindServer, Err: err}
			}
		}
		return inner.Generate(ctx, req)
	})
	return m, c
}

// total returns how many calls there were.
func (c *counter) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum
}
