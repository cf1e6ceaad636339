package peers_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/dues"
	"github.com/evoalloc/evoalloc/examples/internal/peers"
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
	cfg := peers.GEPA(peers.Setting{Task: task.WithEvaluator(squares{plain}, plain), LLM: standIn(t, &calls), N: 4,
		Seed: 40})
	made, refused := map[string]int{}, 0
	_, res := search(t, t.Context(), peers.Peer{Name: "gepa",
		Config: func(peers.Setting) population.Config { return cfg }}, peers.Setting{}, t.TempDir()+"/run.journal", 100)
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
	c := dues.Config(dues.Target{})
	c.Initial, c.Parts = "", []text.Part{{Name: "task", Text: dues.Initial}, {Name: "form", Text: "Be brief."}}
	prompts, err := text.New(c)
	if err != nil {
		t.Fatal(err)
	}
	cfg := peers.GEPA(peers.Setting{Task: prompts})
	cfg.Archive, cfg.Gates = population.Top(1),
		nil // so that all are children of the initial prompt, which is as good as they are
	kids, _ := steps(t, cfg, func(req llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: task.Fence(fmt.Sprint("Think of ", req.Seed), ""), Attempts: []llm.Attempt{{Status: llm.OK}}},
			nil
	}, 300)
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
