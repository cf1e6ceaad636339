package view

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/runtest"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// adder adds a number to the program that it is shown. Of its answers some are invalid, some hold no program, some fail
// and some stall, by seed.
var adder = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "")
	if err != nil {
		return llm.Reply{}, err
	}
	usage := &llm.Usage{PromptTokens: 100, CachedTokens: 40, CompletionTokens: 10 + int(req.Seed%7)}
	a := llm.Attempt{Status: llm.OK, Usage: usage, MaxTokens: 500, Model: "adder", ActiveParams: 1000,
		Endpoint: "http://127.0.0.1:1/v1"}
	text := fmt.Sprintf("I add %d.\n```\n%s %d\n```\nThat is all.", req.Seed%10, strings.TrimSpace(program), req.Seed%10)
	switch req.Seed % 11 {
	case 1:
		text = "```\nnone\n```"
	case 2:
		text = ""
	case 3:
		a = llm.Attempt{Status: llm.Failed, Kind: llm.KindRateLimit, MaxTokens: 500, Model: "adder", ActiveParams: 1000,
			Err: "429 Too Many Requests", Endpoint: a.Endpoint}
		return llm.Reply{Attempts: []llm.Attempt{a}}, &llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit,
			Err: context.DeadlineExceeded}
	case 4:
		late := llm.Attempt{Status: llm.Stalled, Streamed: 9, MaxTokens: 500, Model: "adder", ActiveParams: 1000,
			Err: "silent for 5 s", Endpoint: a.Endpoint}
		return llm.Reply{Text: text, Attempts: []llm.Attempt{late, a}}, nil
	}
	return llm.Reply{Text: text, Attempts: []llm.Attempt{a}}, nil
})

// thinker asks adder for a draft before it answers itself, and makes do without one.
var thinker = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
	draft := req
	draft.Seed++
	if _, err := llm.Ask(ctx, adder, draft); err != nil && ctx.Err() != nil {
		return llm.Reply{}, err
	}
	return adder(ctx, req)
})

// opinion is what a judge says of any program.
var opinion = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	a := llm.Attempt{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 50, CompletionTokens: 3}, Model: "judge",
		ActiveParams: 500}
	return llm.Reply{Text: "It is good.", Attempts: []llm.Attempt{a}}, nil
})

// judged is the task with an evaluator that asks a judge of every program first.
func judged(tk task.Task, judge llm.LLM) task.Task {
	return task.WithEvaluator(tk, eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		if _,
			err := llm.Ask(ctx, judge,
			llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "Is it good?\n" + program}}}); err != nil {
			return eval.Result{}, err
		}
		return tk.Evaluate(ctx, program)
	}))
}

// A trial is a run for tests.
type trial struct {
	path     string
	arms, n  int
	rounds   int
	inFlight int
	target   *float64
	stalls   int
	model    llm.LLM
	judge    llm.LLM // that the evaluator asks of each program; nil for none
	observe  func(evolve.Event, context.CancelFunc)
}

// run makes the run, or goes on with it.
func (r trial) run(t testing.TB) *evolve.Result {
	t.Helper()
	if r.model == nil {
		r.model = adder
	}
	j, err := journal.Open(r.path, journal.Config{Resume: true,
		Fingerprint: journal.Fingerprint{"task": "sum", "model": "adder"}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var arms []evolve.Arm
	tk := runtest.Sum(task.Spec{}, 100)
	if r.judge != nil {
		tk = judged(tk, r.judge)
	}
	for i := range r.arms {
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: r.model, N: r.n, Seed: uint32(40 + i)})
		if err != nil {
			t.Fatal(err)
		}
		arms = append(arms, g)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := evolve.Run(ctx, evolve.Config{Arms: arms, Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Rounds: r.rounds, Target: r.target, Stalls: r.stalls}, InFlight: r.inFlight, Journal: j,
		Observer: func(e evolve.Event) {
			if r.observe != nil {
				r.observe(e, cancel)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// read returns a runLog of the journal at path.
func read(t testing.TB, path string) *runLog {
	t.Helper()
	l := newLog("1", filepath.Base(path))
	for r, err := range record.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		l.Add(r)
	}
	return l
}
