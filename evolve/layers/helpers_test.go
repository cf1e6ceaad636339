package layers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/layers"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// cases is how many a pair is scored on.
const cases = 4

// pairs is a task whose programs are "slope at": a line that is good near one case and bad elsewhere, so that no program is
// good at all.
func pairs(t testing.TB, initial string) task.Task {
	t.Helper()
	return made(t, "pairs", initial, eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		var slope, at float64
		if _, err := fmt.Sscan(program, &slope, &at); err != nil || !(slope > 0 && slope <= 1) {
			return eval.Invalid("not a slope and a place: %.20q", program), nil
		}
		r := eval.Result{Valid: true}
		for i := range cases {
			far := float64(i) - at
			r.Cases = append(r.Cases, slope*(1-far*far/cases))
			r.Score += r.Cases[i] / cases
		}
		return r, nil
	}))
}

// chooser scores choices of a base for each case.
type chooser struct{ pool []eval.Candidate }

func (c chooser) String() string { return "choices of " + layers.Digest(c.pool) }

func (c *chooser) Evaluate(_ context.Context, program string) (eval.Result, error) {
	r := eval.Result{Valid: true}
	words := strings.Fields(program)
	if len(words) != cases {
		return eval.Invalid("%d choices: need %d", len(words), cases), nil
	}
	for i, w := range words {
		at, err := strconv.Atoi(w)
		if err != nil || at < 0 || at >= len(c.pool) {
			return eval.Invalid("no base %.20q", w), nil
		}
		r.Cases = append(r.Cases, c.pool[at].Result.Cases[i])
		r.Score += r.Cases[i] / cases
	}
	return r, nil
}

func made(t testing.TB, name, initial string, e eval.Evaluator) task.Task {
	t.Helper()
	tk, err := task.New(task.Spec{Name: name, Language: "text", System: name, Initial: initial, Evaluator: e})
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

// writer writes a pair or choices, whichever it is asked for, drawn by the seed. One reply in ten is of no use.
func writer(_ context.Context, req llm.Request) (llm.Reply, error) {
	r := rand.New(rand.NewPCG(1, uint64(req.Seed)))
	text := fmt.Sprintf("%.2f %.2f", 0.1+0.9*r.Float64(), 4*r.Float64()-0.5)
	if strings.HasPrefix(req.Messages[0].Content, "choices") {
		text = fmt.Sprint(r.IntN(3), r.IntN(3), r.IntN(3), r.IntN(3))
	}
	if r.IntN(10) == 0 {
		text = "nothing"
	}
	return llm.Reply{Text: "```text\n" + text + "\n```",
		Attempts: []llm.Attempt{{Status: llm.OK, FinishReason: "stop", MaxTokens: 100,
			Usage: &llm.Usage{PromptTokens: 50, CompletionTokens: 5}}}}, nil
}

// counted counts calls.
func counted(l llm.LLM, n *atomic.Int64) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		n.Add(1)
		return l.Generate(ctx, req)
	})
}

// config is of a layered search for pairs, with 3 children a step in stage one and 4 in stage two.
func config(t testing.TB, l llm.LLM, seed uint32) layers.Config {
	t.Helper()
	bases, err := population.New(population.Config{Task: pairs(t, "0.1 0"), LLM: l, N: 3, Seed: seed,
		Archive: population.Fronts(), Select: population.FrontFrequency()})
	if err != nil {
		t.Fatal(err)
	}
	return layers.Config{
		Bases: bases, Calls: 40, Most: 3,
		Combine: func(pool []eval.Candidate) (evolve.Arm, error) {
			tk := made(t, "choices", "0 0 0 0", &chooser{pool})
			return evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: l, N: 4, Seed: seed + 1000})
		},
	}
}

func newLayers(t testing.TB, cfg layers.Config) *layers.Layers {
	t.Helper()
	l, err := layers.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// run runs one arm until its budget ends.
func run(t testing.TB, arm evolve.Arm, calls int) *evolve.Result {
	t.Helper()
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Policy: bandit.Random{},
		Budget: evolve.Budget{Calls: calls}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// spent returns how many calls each arm of an allocator had answered.
func spent(res *evolve.Result) (calls []int) {
	for _, a := range res.Arms {
		n := 0
		for attempts := range a.EachCall {
			if attempts[len(attempts)-1].Status.Class() == llm.Real {
				n++
			}
		}
		calls = append(calls, n)
	}
	return calls
}
