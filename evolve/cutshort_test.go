package evolve_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// content is a search that asks for several children at once and makes do with the replies and the scores that it
// gets. It returns no error.
type content struct {
	careless
	n int
}

func (c *content) Calls() int { return c.n }

func (c *content) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	c.steps++
	gen := evolve.Generation{Index: c.steps, Before: c.best, Best: c.best}
	children := make([]evolve.Child, c.n)
	var wg sync.WaitGroup
	for i := range children {
		wg.Go(func() { children[i] = c.child(ctx, turn, i) })
	}
	wg.Wait()
	for _, child := range children {
		if child.HasProgram() {
			gen.Children = append(gen.Children, child)
		}
		if child.Better(gen.Best) {
			gen.Best = child.Candidate
		}
	}
	c.best = gen.Best
	return gen, nil
}

func (c *content) child(ctx context.Context, turn *evolve.Turn, i int) evolve.Child {
	child := evolve.Child{Index: i, Seed: evolve.ChildSeed(c.seed, c.n, c.steps, i)}
	program := c.best.Program
	if program == "" {
		program = c.task.Initial()
	}
	reply, err := turn.Ask(ctx, evolve.KindChild, c.llm, llm.Request{
		Messages: c.task.Prompt(task.Request{Parents: []eval.Candidate{{Program: program}}}), Seed: child.Seed,
	})
	if err != nil {
		return child
	}
	child.Attempts = reply.Attempts
	if child.Program, err = c.task.Parse(reply.Text); err == nil {
		child.Result, _ = turn.Evaluate(ctx, c.task, child.Program, 0)
	}
	return child
}

// A step in which a call or an evaluation was given up is cut short, whatever its search returns. It is made again
// when the run goes on, and has the outcome of an undisturbed run.
func TestAbandonedBehindTheRunsBack(t *testing.T) {
	second := func(llm.Request) time.Duration { return time.Second }
	for _, tt := range []struct {
		reason string
		arm    func(tk task.Task, l llm.LLM, seed uint32) evolve.Arm
	}{
		{"a search that looks at no error", func(tk task.Task, l llm.LLM, seed uint32) evolve.Arm {
			return &careless{task: tk, llm: l, seed: seed}
		}},
		{"a search that makes do with what came", func(tk task.Task, l llm.LLM, seed uint32) evolve.Arm {
			return &content{careless: careless{task: tk, llm: l, seed: seed}, n: 4}
		}},
	} {
		for _, stopped := range []string{"by Ctrl-C", "by the budget's WallTime"} {
			step := notrun.Length(3*time.Second, 900*time.Millisecond)
			for at := 500 * time.Millisecond; at < 10*time.Second; at += step { // in calls and in evaluations
				synctest.Test(t, func(t *testing.T) {
					run := func(ctx context.Context, path string, wall time.Duration) (*evolve.Result, []byte) {
						cfg := evolve.Config{Policy: &bandit.UCB1{}, Budget: evolve.Budget{Calls: 24, WallTime: wall}}
						if path != "" {
							cfg.Journal = openJournal(t, path)
							defer cfg.Journal.Close()
						}
						tk := late(t, func(string) time.Duration { return time.Second })
						for i := range 2 {
							cfg.Arms = append(cfg.Arms, tt.arm(tk, slowly(second), uint32(i)))
						}
						res, err := evolve.Run(ctx, cfg)
						if err != nil {
							t.Fatalf("%s, stopped %s after %v: %v", tt.reason, stopped, at, err)
						}
						return res, asJSON(t, report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: testModel},
							ArmSeeds: make([]uint32, 2)}))
					}
					_, want := run(t.Context(), "", time.Hour)
					path := journalPath(t)
					if stopped == "by Ctrl-C" {
						ctx, cancel := context.WithTimeout(t.Context(), at)
						defer cancel()
						run(ctx, path, time.Hour)
					} else {
						run(t.Context(), path, at)
						run(t.Context(), path, at) // as it was
					}
					res, got := run(t.Context(), path, time.Hour)
					if res.Calls != 24 || !bytes.Equal(thisLife(t, got), thisLife(t, want)) {
						t.Errorf("%s, stopped %s after %v: resumed, it comes to another result with %d calls", tt.reason, stopped, at,
							res.Calls)
					}
				})
			}
		}
	}
}
