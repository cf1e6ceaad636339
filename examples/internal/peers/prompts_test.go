package peers_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/peers"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// sixty is a task of sixty numbers, a line each, with metrics.
func sixty(t *testing.T) task.Task {
	t.Helper()
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "number_%02d = 3.5\n", i)
	}
	of, err := task.New(task.Spec{Name: "sixty", Language: "python", Initial: b.String(), System: "Find the numbers.",
		Feedback: 400,
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			r := eval.Result{Valid: true, Metrics: map[string]float64{"worst": 0}}
			n := 0
			for line := range strings.Lines(program) {
				var i int
				var x float64
				if _, err := fmt.Sscanf(line, "number_%d = %g", &i, &x); err != nil {
					return eval.Invalid("line %d is no number: %.40q", n+1, line), nil
				}
				far := math.Abs(x - float64(i%7))
				r.Score, n = r.Score-far, n+1
				r.Metrics["worst"] = max(r.Metrics["worst"], far)
			}
			if n != 60 {
				return eval.Invalid("%d numbers", n), nil
			}
			return r, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// promptsOf returns the prompts of so many calls of a search, in the order in which they were sent, one at a time.
func promptsOf(t *testing.T, peer func(peers.Setting) population.Config, s peers.Setting, calls int) (prompts []string) {
	t.Helper()
	m, err := offline.New(peers.Offline(0).Config())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	s.LLM = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		text := ""
		for _, m := range req.Messages {
			text += m.Content + "\n"
		}
		prompts = append(prompts, text)
		return m.Generate(ctx, req)
	})
	p, err := population.New(peer(s))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p},
		Budget: evolve.Budget{Calls: calls}}); err != nil {
		t.Fatal(err)
	}
	return prompts
}

// shared returns the mean share of a prompt that is a prefix of one of the n before it.
func shared(prompts []string, n int) float64 {
	var sum, all float64
	for i, p := range prompts[1:] {
		longest := 0
		for _, q := range prompts[max(0, i+1-n) : i+1] {
			k := 0
			for k < min(len(p), len(q)) && p[k] == q[k] {
				k++
			}
			longest = max(longest, k)
		}
		sum, all = sum+float64(longest), all+float64(len(p))
	}
	return sum / all
}

func meanTokens(prompts []string) float64 {
	n := 0
	for _, p := range prompts {
		n += (len(p) + 3) / 4
	}
	return float64(n) / float64(len(prompts))
}

// The figures of docs/measurements/2026-11-26-prompts.md: tokens of a prompt, and the share of them that is a prefix of the
// prompt before, or of one of the 64 before. They are those of full length.
func TestPromptFigures(t *testing.T) {
	calls := notrun.Length(80, 256)
	for _, p := range peers.Peers() {
		if p.Config == nil { // it consists of others
			continue
		}
		prompts := promptsOf(t, p.Config, peers.Setting{Task: sixty(t), N: 16, Window: 4, Seed: 40}, calls)
		one, any := shared(prompts, 1), shared(prompts, 64)
		t.Logf("%-13s %7.0f %6.2f %6.2f", p.Name, meanTokens(prompts), one, any)
		if any < one || any == 0 || len(prompts) < calls {
			t.Errorf("%s: %d prompts share %v with the one before and %v with any", p.Name, len(prompts), one, any)
		}
	}
}
