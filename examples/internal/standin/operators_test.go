package standin_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/presets"
	"github.com/evoalloc/evoalloc/examples/internal/standin"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// able is the offline model with the abilities that the searches appeal to, each of which it always uses.
func able(t *testing.T) *offline.Model {
	t.Helper()
	able := standin.All()
	if able.Splice == 0 || able.Heed == 0 || !able.Insights {
		t.Fatalf("abilities %v", able)
	}
	able.Splice, able.Heed = 1, 1
	cfg := able.Config()
	cfg.Broken = -1
	m, err := offline.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// scripts returns a task with programs in JavaScript, scored by f.
func scripts(t *testing.T, initial string, f func(program string) eval.Result) task.Task {
	t.Helper()
	s, err := task.New(task.Spec{Name: "scripts", Language: "javascript", Initial: initial,
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) { return f(program), nil })})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// steps makes children and returns them. What model is asked for is in prompts.
func steps(t *testing.T, cfg population.Config, model func(llm.Request) (llm.Reply, error), calls int) (kids []evolve.Child, prompts []string) {
	t.Helper()
	var mu sync.Mutex
	cfg.N, cfg.Seed = 4, 40
	cfg.LLM = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		mu.Lock()
		prompts = append(prompts, req.Messages[len(req.Messages)-1].Content)
		mu.Unlock()
		return model(req)
	})
	cfg.OnChild = func(c evolve.Child) { // a result keeps few programs
		mu.Lock()
		defer mu.Unlock()
		kids = append(kids, c)
	}
	p, err := population.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p},
		Budget: evolve.Budget{Calls: calls}}); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(kids, func(a, b evolve.Child) int { return a.ID - b.ID })
	return kids, prompts
}

const (
	withAlpha = "function main() {\n  let alpha = 3;\n  let sum = alpha * 2;\n  return sum;\n}\n"
	withBeta  = "function main() {\n  let beta = 7;\n  let sum = beta - 1;\n  return sum;\n}\n"
)

// A cross of two programs that are shown has parts of both, and without the ability never has.
func TestCrossSplices(t *testing.T) {
	stand := able(t)
	for _, tt := range []struct {
		reason   string
		operator population.Operator
		both     bool
	}{
		{"the default instruction", population.Cross{}, true},
		{"EvoPrompt's", presets.EvoPromptGA(population.Config{}).Operators[0], true},
		{"its placebo shows one program twice", population.Cross{Self: true}, false},
		{"a rewrite beside an inspiration asks for no cross",
			population.Rewrite{Label: "shown", Show: func(v *population.View) []task.Section {
				return []task.Section{population.Inspirations(v.Sample(v.All.Members(), population.Uniform(), 1)...)}
			}}, false},
	} {
		cfg := population.Config{
			Task: scripts(t, withAlpha, func(p string) eval.Result {
				return eval.Result{Valid: p == withAlpha || p == withBeta}
			}),
			Archive: population.Top(2), Select: population.Uniform(),
			Operators: []population.Operator{tt.operator, population.Rewrite{Label: "first"}}, Policy: bandit.Shares{1, 0.2},
		}
		kids, _ := steps(t, cfg, func(req llm.Request) (llm.Reply, error) {
			text := req.Messages[len(req.Messages)-1].Content
			if strings.Count(text, "```") == 2 && !strings.Contains(text, "Combine") { // one program is shown
				return llm.Reply{Text: task.Fence(withBeta, "javascript"), Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
			}
			return stand.Generate(t.Context(), req)
		}, 200)
		both, of := 0, 0
		for _, c := range kids {
			if c.Operator != tt.operator.Name() {
				continue
			}
			of++
			if strings.Contains(c.Program, "alpha") && strings.Contains(c.Program, "beta") {
				both++
			}
		}
		if of < 50 || tt.both != (both > of/4) || !tt.both && both > 0 {
			t.Errorf("%s: %d of %d children have parts of both programs", tt.reason, both, of)
		}
	}
}

// What the model notes on attempts is shown with later children.
func TestScratchpadNoteComesBack(t *testing.T) {
	stand := able(t)
	notes := func(memory ...population.Memory) (asked, shown int) {
		cfg := population.Config{
			Task: scripts(t, "function f(x, y) {\n  return x - 0.5 * y;\n}\n", func(p string) eval.Result {
				return eval.Result{Valid: true, Score: float64(len(p))}
			}),
			Archive: population.All(), Select: population.Uniform(), Memory: memory,
		}
		_, prompts := steps(t, cfg, func(req llm.Request) (llm.Reply, error) { return stand.Generate(t.Context(), req) }, 100)
		for _, text := range prompts {
			switch {
			case strings.Contains(text, "what worked"):
				asked++
			case strings.Contains(text, "attempts the best came to"):
				shown++
			}
		}
		return asked, shown
	}
	asked, shown := notes(&population.Scratchpad{Every: 8})
	if _, none := notes(); asked == 0 || shown == 0 || none != 0 {
		t.Errorf("the model is asked %d times what worked, and %d prompts have its note; without a scratchpad %d", asked,
			shown, none)
	}
}

// A repair changes the line that the reason names.
func TestRepairHeedsTheReason(t *testing.T) {
	stand := able(t)
	const broken = "function main() {\n  return 1 + undefined1;\n}\n"
	cfg := population.Config{
		Task: scripts(t, withAlpha, func(p string) eval.Result {
			if strings.Contains(p, "undefined1") {
				return eval.Invalid("line 2: undefined1 is not defined")
			}
			return eval.Result{Valid: true}
		}),
		Operators: []population.Operator{population.Repair{}, population.Rewrite{}}, Policy: bandit.Shares{1, 0},
	}
	kids, _ := steps(t, cfg, func(req llm.Request) (llm.Reply, error) {
		if !strings.Contains(req.Messages[0].Content, "repair") {
			return llm.Reply{Text: task.Fence(broken, "javascript"), Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
		}
		return stand.Generate(t.Context(), req)
	}, 64)
	repairs := 0
	for _, c := range kids {
		if c.Operator != "repair" || c.Program == "" {
			continue
		}
		repairs++
		lines := strings.Split(c.Program, "\n")
		if lines[0] != "function main() {" || strings.TrimSpace(lines[len(lines)-1]) != "}" &&
			strings.TrimSpace(lines[len(lines)-2]) != "}" {
			t.Errorf("a repair changes another line than 2:\n%s", c.Program)
		}
	}
	if repairs < 20 {
		t.Errorf("%d repairs, want more to judge by", repairs)
	}
}

// An exploration asks for something different in words that the model heeds: it changes more than a rewrite does.
func TestExploreIsBold(t *testing.T) {
	stand := able(t)
	initial := "return [" + strings.Repeat("10, ", 30) + "10]"
	changed := func(o population.Operator) (n int) {
		cfg := population.Config{Task: scripts(t, initial, func(string) eval.Result { return eval.Result{Valid: true} }),
			Operators: []population.Operator{o}}
		kids, _ := steps(t, cfg, func(req llm.Request) (llm.Reply, error) { return stand.Generate(t.Context(), req) }, 200)
		for _, c := range kids {
			n += len(c.Program) - strings.Count(c.Program, "10, ")*4
		}
		return n
	}
	explore := population.Explore{Directions: []string{"Write a program that solves the task by a different method than this one."}}
	if bold, plain := changed(explore), changed(population.Rewrite{}); bold <= plain {
		t.Errorf("explorations change %d, rewrites %d", bold, plain)
	}
}
