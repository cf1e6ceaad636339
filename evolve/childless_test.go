package evolve_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// childless is an arm that scores a program a step and tells of no children.
type childless struct {
	on    eval.Evaluator
	steps int
	best  eval.Candidate
}

func (c *childless) Best() eval.Candidate { return c.best }
func (c *childless) Done() bool           { return false }

func (c *childless) Start(ctx context.Context, turn *evolve.Turn) error {
	r, err := turn.Evaluate(ctx, c.on, "0", 0)
	c.best = eval.Candidate{Program: "0", Result: r}
	return err
}

func (c *childless) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	c.steps++
	gen := evolve.Generation{Index: c.steps, Best: c.best}
	if _, err := turn.Ask(ctx, evolve.KindChild, instant, question("step %d", c.steps)); err != nil {
		return gen, err
	}
	_, err := turn.Evaluate(ctx, c.on, fmt.Sprint(c.steps), 0)
	return gen, err
}

// An arm that tells of no children makes as many calls of judges a program as any, and uses up the calls of its run.
func TestChildlessArmUsesItsCalls(t *testing.T) {
	for _, judges := range []int{1, 3} {
		on := &named{"judged", func(ctx context.Context, program string) (eval.Result, error) {
			for i := range judges {
				if _, err := llm.Ask(ctx, instant, question("judge %d of %s", i, program)); err != nil {
					return eval.Result{}, err
				}
			}
			return eval.Result{Valid: true, Score: 1}, nil
		}}
		res := mustRun(t, evolve.Config{Arms: []evolve.Arm{&childless{on: on}}, Budget: evolve.Budget{Calls: 400}})
		if res.Limit != "Calls" || res.Calls < 400-judges {
			t.Errorf("%d judges: ended by %s after %d calls of 400", judges, res.Limit, res.Calls)
		}
	}
}

// forgetful asks for three children and a judge of each a step, and tells of what its way leaves of that.
type forgetful struct {
	childless
	way func(children []evolve.Child, judges [][]llm.Attempt) []evolve.Child
}

func (f *forgetful) Step(ctx context.Context, turn *evolve.Turn) (gen evolve.Generation, err error) {
	var judges [][]llm.Attempt
	for i := range 3 {
		reply, err := turn.Ask(ctx, evolve.KindChild, instant, question("child %d of step %d", i, f.steps))
		if err != nil {
			return gen, err
		}
		judge, err := turn.Ask(ctx, "judge", instant, question("judge %d of step %d", i, f.steps))
		if err != nil {
			return gen, err
		}
		gen.Children = append(gen.Children, evolve.Child{Index: i, Attempts: reply.Attempts,
			Candidate: eval.Candidate{Program: fmt.Sprint(i), Result: eval.Result{Valid: true, Score: float64(i)}}})
		judges = append(judges, judge.Attempts)
	}
	f.steps++
	gen.Children = f.way(gen.Children, judges)
	return gen, nil
}

// Whatever an arm tells of its calls, each counts once, and the run knows its children's from those beside them.
func TestArmsThatForgetCalls(t *testing.T) {
	type children = []evolve.Child
	for _, tt := range []struct {
		reason string
		way    func(children, [][]llm.Attempt) children
		asked  int // children of a step that have a call; the other calls are asides
	}{
		{"all", func(c children, _ [][]llm.Attempt) children { return c }, 3},
		{"none", func(children, [][]llm.Attempt) children { return nil }, 0},
		{"one of them", func(c children, _ [][]llm.Attempt) children { return c[1:2] }, 1},
		{"a child without its attempts", func(c children, _ [][]llm.Attempt) children { c[0].Attempts = nil; return c }, 2},
		{"one twice", func(c children, _ [][]llm.Attempt) children { return append(c, c[0]) }, 3},
		{"a judge's attempts with the child's", func(c children, j [][]llm.Attempt) children {
			c[2].Attempts = append(c[2].Attempts, j[2]...)
			return c
		}, 2},
		{"attempts that nobody made", func(c children, _ [][]llm.Attempt) children {
			c[0].Attempts = []llm.Attempt{{Status: llm.OK}}
			return c
		}, 2},
	} {
		path := journalPath(t)
		run := func() *evolve.Result {
			j := openJournal(t, path)
			defer j.Close()
			arm := &forgetful{childless: childless{on: newNumbers(t, "0")}, way: tt.way}
			return mustRun(t, evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 4}, Journal: j})
		}
		res := run()
		if res.Calls != 24 {
			t.Errorf("%s: %d calls, want 24", tt.reason, res.Calls)
		}
		for _, g := range res.Arms[0].Generations {
			asked := 0
			for _, c := range g.Children {
				if c.Asked() {
					asked++
				}
			}
			if asked != tt.asked || len(g.Asides) != 6-asked {
				t.Errorf("%s: %d children with a call and %d asides, want %d of 6", tt.reason, asked, len(g.Asides), tt.asked)
			}
			if n := len(g.Children); n == 3 && g.Best.Result.Score != 2 {
				t.Errorf("%s: the best is %+v, want the best child", tt.reason, g.Best)
			}
		}
		if diff := cmp.Diff(res.Arms, run().Arms, cmpopts.IgnoreFields(evolve.Generation{}, "Elapsed")); diff != "" {
			t.Errorf("%s: resumed (-first +second)\n%s", tt.reason, diff)
		}
	}
}
