package sweep

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// The table counts each call once: those that were known, those of generations, and at a run's end no more. The mean is
// that of runs with the largest budget.
func TestProgress(t *testing.T) {
	o, err := parse(strings.Fields("--methods ucb --budgets 16,32 --seeds 2 --N 8 --n-arms 2"))
	if err != nil {
		t.Fatal(err)
	}
	tk, err := task.New(task.Spec{Name: "t", Initial: "x", Evaluator: eval.Func(nil)})
	if err != nil {
		t.Fatal(err)
	}
	plan := sweep.Plan{Tasks: []task.Task{tk}, Models: []sweep.Model{{Spec: llm.Model{Key: "m"}, LLM: llm.Func(nil)}},
		Methods: o.newMethods(), Budgets: o.budgets, Seeds: o.newSeeds()}
	runs := plan.Runs() // C = 32 and 16 of the first seed, then of the second
	p := newProgress(t.Context(), plan, 96, nil)
	defer p.close()
	for _, e := range []sweep.Event{
		{Kind: sweep.EventKnown, Run: runs[0], Calls: 32, Cost: 3, Best: 0.5},
		{Kind: sweep.EventBegin, Run: runs[1]},
		{Kind: sweep.EventGeneration, Run: runs[1], Calls: 8, Cost: 1, Best: 0.25},
		{Kind: sweep.EventBegin, Run: runs[2]},
		{Kind: sweep.EventGeneration, Run: runs[2], Calls: 8, Cost: 1, Best: 0.25},
		{Kind: sweep.EventGeneration, Run: runs[1], Calls: 16, Cost: 2, Best: 0.25},
		{Kind: sweep.EventEnd, Run: runs[1], Calls: 16, Cost: 2, Best: 0.25},
		{Kind: sweep.EventPause, Run: runs[2], Calls: 8, Cost: 1, Limit: "Stalls"},
	} {
		p.observe(e)
	}
	if got, want := p.text(0), " 2/4 runs, mean best 0.5000"; got != want {
		t.Errorf("the method's row is %q, want %q", got, want)
	}
	all := p.rows[len(p.rows)-1]
	if all.calls != 56 || all.cost != 6 || all.planned != 96 || p.known != 32 {
		t.Errorf("%+v with %d known, want 56 of 96 calls for 6, and 32 known", all, p.known)
	}
	if got := p.text(1); !strings.Contains(got, "cost 6.00 of about 10.29") || !strings.Contains(got, " left") {
		t.Errorf("the last row is %q", got)
	}
}
