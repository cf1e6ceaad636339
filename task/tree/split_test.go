package tree

import (
	"context"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
)

// Parts put together are the program, and of every program there are as many.
func TestSplit(t *testing.T) {
	tt := newTask(t)
	n := len(tt.Split(tt.Initial()))
	for _, reply := range []string{
		blocks, "### lib/total.go\nDELETE\n", "### new/a\n```\nx\n```\n",
		"### lib/aaa.go\n```\na\n```\n### lib/zzz.go\n```\nz\n```\n",
		blocks + "### lib/other.go\nDELETE\n### new/a\n```\nx\n```\n### new/b\n```\n```\n",
	} {
		program, err := tt.Parse(reply)
		if err != nil {
			t.Fatal(err)
		}
		parts := tt.Split(program)
		if got := strings.Join(parts, ""); got != program || len(parts) != n {
			t.Errorf("%d parts, want %d: they are\n%s, want\n%s", len(parts), n, got, program)
		}
	}
	if parts := tt.Split("no program"); len(parts) != 1 {
		t.Errorf("a text that is no program has %d parts", len(parts))
	}
}

// A merge takes files from two trees, without a call.
func TestMergeOfTrees(t *testing.T) {
	tt := newTask(t, func(c *Config) {
		c.Evaluator = eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			score := strings.Count(program, "\na1\n") + strings.Count(program, "\nb1\n")
			return eval.Result{Valid: true, Score: float64(score)}, nil
		})
	})
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		reply := llm.Reply{Attempts: []llm.Attempt{{Status: llm.OK}}}
		reply.Text = []string{"### new/a\n```\na1\n```\n### new/b\n```\nb0\n```\n",
			"### lib/other.go\n```\nb1\n```\n"}[req.Seed%2]
		return reply, nil
	})
	p, err := population.New(population.Config{Task: tt, LLM: model, N: 4, Seed: 3, Archive: population.All(),
		Select:    population.Uniform(),
		Operators: []population.Operator{onlyFirst{}, &population.Merge{}}, Policy: bandit.Random{}})
	if err != nil {
		t.Fatal(err)
	}
	whole := 2.0
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p},
		Budget: evolve.Budget{Rounds: 12, Target: &whole}})
	if err != nil || r.Best.Result.Score != 2 || strings.Count(r.Best.Program, "\n-- ") != 3 {
		t.Errorf("%v: the best is %+v", err, r.Best)
	}
}

// onlyFirst rewrites the initial program alone, so that no child has both gains unless it is merged.
type onlyFirst struct{ population.Rewrite }

func (o onlyFirst) Brief(v *population.View) evolve.Brief {
	for _, m := range v.Part.Members() {
		if m.ID == 0 {
			v.Parent = m
		}
	}
	return o.Rewrite.Brief(v)
}
