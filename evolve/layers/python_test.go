package layers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/layers"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// shops are two problems with the same jobs: mean completion on one machine, where short ones go first, and the end of
// all on two, where long ones do.
const shops = "JOBS = [7, 2, 9, 4, 4, 1]\n"

// orders scores orders of the jobs of both shops.
func orders(out json.RawMessage) eval.Result {
	var both [][]float64
	if err := json.Unmarshal(out, &both); err != nil || len(both) != 2 {
		return eval.Invalid("want two orders of jobs")
	}
	r := eval.Result{Valid: true, Cases: []float64{0, 0}}
	for i, jobs := range both {
		sorted := slices.Sorted(slices.Values(jobs))
		if !slices.Equal(sorted, []float64{1, 2, 4, 4, 7, 9}) {
			return eval.Invalid("order %d is not of the jobs", i)
		}
		free, done := make([]float64, i+1), 0.0
		for _, j := range jobs {
			m := slices.Index(free, slices.Min(free))
			free[m] += j
			done += free[m]
		}
		if r.Cases[i] = 68 / done; i == 1 {
			r.Cases[i] = 14 / slices.Max(free)
		}
		r.Score += math.Round(r.Cases[i]*1000) / 2000
	}
	return r
}

// Bases and combinations in Python, in one run: stage one finds two rules, each good in one shop and bad in the other, and
// stage two calls one in each.
func TestLayersInPython(t *testing.T) {
	if pythonMissing != nil {
		notrun.Skip(t)
	}
	r, err := python.NewRunner(t.Context(), python.Config{Imports: []string{}, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	replies := map[string][]string{
		"bases":  {"def order(jobs):\n    return sorted(jobs)", "def order(jobs):\n    return sorted(jobs)[::-1]", "def order(jobs):\n    return 1/0"},
		"router": {"def main():\n    return [base(1, JOBS), base(0, JOBS)]", "def main():\n    return [base(0, JOBS), base(1, JOBS)]", "def main():\n    return [base(7, JOBS)]"},
	}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		of := replies[req.Messages[0].Content]
		return llm.Reply{Text: "```python\n" + of[int(req.Seed)%len(of)] + "\n```", Attempts: []llm.Attempt{{Status: llm.OK, FinishReason: "stop"}}}, nil
	})
	search := func(name, initial string, e eval.Evaluator) (evolve.Arm, error) {
		tk, err := task.New(task.Spec{Name: name, Language: "python", System: name, Initial: initial, Evaluator: e})
		if err != nil {
			return nil, err
		}
		return evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: model, N: 4})
	}
	both := "\n" + shops + "def both():\n    return [order(JOBS), order(JOBS)]\n"
	bases, err := search("bases", "def order(jobs):\n    return jobs", eval.Scored(behind{r, both}, "both", orders))
	if err != nil {
		t.Fatal(err)
	}
	l := newLayers(t, layers.Config{
		Bases: bases, Calls: 24, Pool: layers.Pool{K: 2, By: layers.ByCover, Language: "python", Alike: 1},
		Combine: func(pool []eval.Candidate) (evolve.Arm, error) {
			c, err := layers.NewCaller(layers.CallerConfig{Runner: r, Language: "python", Bases: pool, Entry: "order"})
			if err != nil {
				return nil, err
			}
			return search("router", "def main():\n    return [base(0, JOBS), base(0, JOBS)]", eval.Scored(behind{c, "\n" + shops}, "main", orders))
		},
	})
	res := run(t, l, 24)
	base := l.Result().Arms[0].Best
	if len(l.Pool()) != 2 || !l.Promoted() || res.Best.Result.Score <= base.Result.Score || res.Best.Result.Score < 0.99 {
		t.Errorf("of %d bases the best scores %v, and the answer %v:\n%s", len(l.Pool()), base.Result.Score, res.Best.Result.Score, res.Best.Program)
	}
}

// behind puts text behind programs.
type behind struct {
	eval.Runner
	text string
}

func (b behind) Run(ctx context.Context, program, entry string) (json.RawMessage, error) {
	return b.Runner.Run(ctx, program+b.text, entry)
}

func (b behind) String() string {
	return fmt.Sprintf("%v, behind it %q", b.Runner, strings.TrimSpace(b.text))
}
