package presets_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/presets"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/text"
)

// A batch scores eight numbers by some of its cases: how near the i-th is to i². The zero value has none.
type batch struct{ from, n int }

const (
	all   = 8
	lines = "a = 3\n\nb = 3\n\nc = 3\n\nd = 3\n\ne = 3\n\nf = 3\n\ng = 3\n\nh = 3\n"
)

func (b batch) Evaluate(_ context.Context, program string) (eval.Result, error) {
	var x [all]float64
	_, err := fmt.Sscanf(program, strings.ReplaceAll(lines, "3", "%g"), &x[0], &x[1], &x[2], &x[3], &x[4], &x[5], &x[6],
		&x[7])
	if err != nil {
		return eval.Invalid("need eight numbers: %v", err), nil
	}
	r := eval.Result{Valid: true}
	for k := range b.n {
		i := (b.from + k) % all
		r.Cases = append(r.Cases, -math.Abs(x[i]-float64(i*i)))
		r.Score += r.Cases[k]
	}
	return r, nil
}

// eight returns the task of all eight numbers.
func eight(t *testing.T) task.Task {
	t.Helper()
	e, err := task.New(task.Spec{Name: "squares", Language: "python", Initial: lines, Evaluator: batch{0, all}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// squares is a task with a case for each number, which scores programs on a few of them too.
type squares struct{ task.Task }

func (squares) Minibatch(i, n int) eval.Evaluator { return batch{i * n % all, n} }

// GEPA's parts all act in a task with cases: fronts have several members, a minibatch refuses children, and members are
// merged.
func TestGEPAOnCases(t *testing.T) {
	plain := eight(t)
	var calls atomic.Int64
	cfg := presets.GEPA(population.Config{Task: task.WithEvaluator(squares{plain}, plain), LLM: standIn(t, &calls), N: 4,
		Seed: 40})
	made, refused := map[string]int{}, 0
	res := search(t, t.Context(), presets.Preset{Name: "gepa",
		Config: func(population.Config) population.Config { return cfg }}, population.Config{}, t.TempDir()+"/run.journal", 100)
	for _, g := range res.Arms[0].Generations {
		for _, c := range g.Children {
			made[c.Operator]++
			if strings.HasPrefix(c.Err, "refused by Screen") {
				refused++
			}
		}
	}
	if n := len(cfg.Archive.Members()); n < 2 || made["merge"] == 0 || refused < 100 || refused > 390 {
		t.Errorf("the fronts have %d members, children are by %v, the minibatch refuses %d", n, made, refused)
	}
	if !res.Best.Better(res.Arms[0].Start) {
		t.Errorf("best %v, from %v", res.Best.Result.Score, res.Arms[0].Start.Result.Score)
	}
}

// Of a prompt in parts a child has one part of its own, and each part has its turn.
func TestGEPAChangesPartsInTurn(t *testing.T) {
	c := prompt(half)
	c.Initial, c.Parts = "", []text.Part{{Name: "task", Text: "Answer."}, {Name: "form", Text: "Be brief."}}
	cfg := presets.GEPA(population.Config{Task: promptTask(t, c)})
	cfg.Archive, cfg.Gates = population.Top(1),
		nil // so that all are children of the initial prompt, which is as good as they are
	kids, _ := steps(t, cfg, thinks, 300)
	changed := map[string]int{}
	for _, k := range kids {
		if k.Program == "" { // the budget ended before its reply
			continue
		}
		parts, err := text.SplitParts(k.Program)
		if err != nil || len(parts) != 2 || (parts[0] == c.Parts[0]) == (parts[1] == c.Parts[1]) {
			t.Fatalf("a child changes other than one part: %q, %v", k.Program, err)
		}
		for i, p := range parts {
			if p != c.Parts[i] {
				changed[p.Name]++
			}
		}
	}
	if changed["task"] < 3 || changed["form"] < 3 {
		t.Errorf("parts changed: %v", changed)
	}
}

// prompt is the configuration of a prompt whose replies have this score.
func prompt(score func(c text.Case) float64) text.Config {
	c := text.Config{Name: "prompt", Initial: "Answer.", Score: func(c text.Case, _ string) (float64, string) {
		return score(c), "It is wrong."
	}, Target: llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: "Yes.", Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
	})}
	for i := range 20 {
		of := text.Case{ID: fmt.Sprint(i), Input: fmt.Sprint("case ", i), Want: "No."}
		switch {
		case i < 14:
			c.Train = append(c.Train, of)
		case i < 17:
			c.Validation = append(c.Validation, of)
		default:
			c.HeldOut = append(c.HeldOut, of)
		}
	}
	return c
}

// half scores each reply 0.5.
func half(text.Case) float64 { return 0.5 }

func promptTask(t *testing.T, c text.Config) *text.Task {
	t.Helper()
	of, err := text.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// thinks replies with a prompt of its own.
func thinks(req llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: task.Fence(fmt.Sprint("Think of ", req.Seed), ""), Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
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

// GEPA shows the model what the parent answers on the three train cases of the child's minibatch, and no others.
func TestGEPAReflectsOnAFreshMinibatch(t *testing.T) {
	inputs := map[string]bool{}
	c := prompt(half)
	c.Reflect = -1 // no cases are answered for feedback when a prompt is scored
	_, prompts := steps(t, presets.GEPA(population.Config{Task: promptTask(t, c)}), thinks, 200)
	n := 0
	for _, p := range prompts {
		n++
		if strings.Count(p, "> input: ") != 3 || strings.Count(p, "> reply: ") != 3 || strings.Count(p, "> feedback: ") == 0 {
			t.Fatalf("a prompt shows other than a minibatch:\n%s", p)
		}
		for line := range strings.Lines(p) {
			if input, ok := strings.CutPrefix(line, "> input: "); ok {
				inputs[strings.TrimSpace(input)] = true
			}
		}
	}
	train := map[string]bool{}
	for _, c := range c.Train {
		train[c.Input] = true
	}
	for input := range inputs {
		if !train[input] {
			t.Errorf("a prompt shows %q, which is not to train on", input)
		}
	}
	if n < 5 || len(inputs) < 12 {
		t.Errorf("%d prompts show %d cases: want more to judge by", n, len(inputs))
	}
}

// A parent that is perfect on the minibatch is not rewritten, and a search that finds no other is done.
func TestGEPASkipsPerfectMinibatches(t *testing.T) {
	of := promptTask(t, prompt(func(text.Case) float64 { return 1 }))
	var calls atomic.Int64
	s, err := population.New(presets.GEPA(population.Config{Task: of, LLM: standIn(t, &calls), N: 4, Seed: 40}))
	if err != nil {
		t.Fatal(err)
	}
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{s}, Budget: evolve.Budget{Calls: 10_000}})
	if err != nil || res.Stop != evolve.StopExhausted || calls.Load() != 0 {
		t.Errorf("stopped by %s after %d calls: %v", res.Stop, calls.Load(), err)
	}
}

// With scores of another scale than 0 to 1 a parent may have more than 1 in each case, or just 1, and is rewritten.
func TestGEPARewritesOnOtherScales(t *testing.T) {
	for _, tt := range []struct {
		reason string
		score  func(c text.Case) float64
	}{
		{"percents", func(text.Case) float64 { return 40 }},
		{"1 at the cases of minibatches, and more at others", func(c text.Case) float64 {
			var i int
			if fmt.Sscanf(c.Input, "case %d", &i); i < 14 {
				return 1
			}
			return 1.5
		}},
		{"less than 1", func(text.Case) float64 { return 0.999 }},
	} {
		of := promptTask(t, prompt(tt.score))
		var calls atomic.Int64
		s, err := population.New(presets.GEPA(population.Config{Task: of, LLM: standIn(t, &calls), N: 4, Seed: 40}))
		if err != nil {
			t.Fatal(err)
		}
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{s}, Budget: evolve.Budget{Calls: 400}})
		if err != nil || res.Stop != evolve.StopBudget || calls.Load() < 10 {
			t.Errorf("%s: stopped by %s after %d children were asked for: %v", tt.reason, res.Stop, calls.Load(), err)
		}
	}
}
