package sweep_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/task"
)

// A grid of ten budgets with all splits and ten seeds, as the paper's, costs 51,200 calls and not 92,170: every budget is
// read off the runs of the largest.
func TestCost(t *testing.T) {
	budgets := []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}
	p := grid(10, budgets, sweep.Splits(budgets...)...)
	got, err := p.Cost()
	want := sweep.Cost{Cells: 550, Runs: 100, Calls: 51_200, Naive: 92_170}
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	p.Methods = []sweep.Method{sweep.Bandit("ucb", 2, 3, ucb)}
	want = sweep.Cost{Cells: 90, Runs: 90, Calls: 10_220, Naive: 10_220}
	if got, err = p.Cost(); err != nil || got != want {
		t.Errorf("a bandit's runs serve one budget each: %+v, %v; want %+v", got, err, want)
	}
}

func ucb(int, int) bandit.Policy { return &bandit.UCB1{} }

// Runs are made seed by seed, and of one seed the deepest first.
func TestRuns(t *testing.T) {
	var got []string
	for _, r := range grid(2, []int{4, 12}, sweep.Greedy(3), sweep.Greedy(1), sweep.Bandit("ucb", 4, 2, ucb)).Runs() {
		got = append(got, fmt.Sprintf("%s N=%d T=%d depths %v seed %d", r.Method, r.N, r.T, r.Depths, r.Seed))
	}
	want := []string{
		"greedy N=1 T=12 depths [4 12] seed 40",
		"greedy N=3 T=4 depths [4] seed 40", // 3 does not divide 4
		"ucb N=4 T=3 depths [3] seed 40",
		"ucb N=4 T=1 depths [1] seed 40",
		"greedy N=1 T=12 depths [4 12] seed 41",
		"greedy N=3 T=4 depths [4] seed 41",
		"ucb N=4 T=3 depths [3] seed 41",
		"ucb N=4 T=1 depths [1] seed 41",
	}
	if !slices.Equal(got, want) {
		t.Errorf("runs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWrongPlans(t *testing.T) {
	for _, tt := range []struct {
		change func(*sweep.Plan)
		want   string
		reason string
	}{
		{func(p *sweep.Plan) { p.Tasks = nil }, "Plan.Tasks is empty", "an empty product would be a sweep of nothing"},
		{func(p *sweep.Plan) { p.Seeds = nil }, "Plan.Seeds is empty", "the same"},
		{func(p *sweep.Plan) { p.Budgets = []int{8, 0} }, "Plan.Budgets has 0", "no run has no call"},
		{func(p *sweep.Plan) { p.Budgets = []int{8, 8} }, "Plan.Budgets has 8 twice", "the cell would count twice"},
		{func(p *sweep.Plan) { p.Seeds = []uint32{1, 1} }, "Plan.Seeds has 1 twice",
			"one seed twice makes intervals too narrow"},
		{func(p *sweep.Plan) { p.Tasks = append(p.Tasks, p.Tasks[0]) }, "two runs of the plan are",
			"they would have the same files"},
		{func(p *sweep.Plan) {
			p.Methods = []sweep.Method{sweep.Bandit("ucb", 2, 3, ucb), sweep.Bandit("ucb", 2, 4, ucb)}
		}, "two methods of the plan are ucb with 2 children",
			"a bandit over three searches and one over four would be one method"},
		{func(p *sweep.Plan) { p.Tasks = []task.Task{nil} }, "Plan.Tasks[0] is nil", "a slip"},
		{func(p *sweep.Plan) { p.Models[0].LLM = nil }, "Plan.Models[0].LLM is nil", "a slip"},
		{func(p *sweep.Plan) { p.Models[0].Spec.Key = "../up" }, `"../up"`, "files must stay in the folder"},
		{func(p *sweep.Plan) { p.Methods[0].Name = "a/../../b" }, `"a/../../b"`, "the same"},
		{func(p *sweep.Plan) { p.Methods[0].N = 0 }, "N is 0", "a generation has a child"},
		{func(p *sweep.Plan) { p.Methods[0].N = 3 }, "3 children divide none of the budgets [8]",
			"a method without a cell is a slip"},
		{func(p *sweep.Plan) { p.Methods[0].New = nil }, "Plan.Methods[0].New is nil", "a slip"},
		{func(p *sweep.Plan) { p.Methods[0].Arms = -1 }, "-1 arms", "a slip"},
	} {
		p := grid(1, []int{8}, sweep.Greedy(2))
		tt.change(&p)
		if _, err := p.Cost(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want it to say %q", tt.reason, err, tt.want)
		}
		if _, err := p.Run(t.Context(), sweep.Config{Dir: t.TempDir()}); err == nil {
			t.Errorf("%s: the sweep was made", tt.reason)
		}
	}
}

func TestWrongConfigs(t *testing.T) {
	for _, tt := range []struct {
		cfg  sweep.Config
		want string
	}{
		{sweep.Config{}, "Dir is empty"},
		{sweep.Config{Dir: "d", Calls: -1}, "Calls is -1"},
		{sweep.Config{Dir: "d", Evaluations: -1}, "Evaluations is -1"},
		{sweep.Config{Dir: "d", AtOnce: -1}, "AtOnce is -1"},
		{sweep.Config{Dir: "d", Grace: -1}, "Grace is -1ns"},
		{sweep.Config{Dir: "d", Read: []string{"missing.json"}}, "missing.json"},
		{sweep.Config{Dir: "d", StopWhen: []sweep.Comparison{{A: sweep.Side{Method: "greedy", N: 2},
			B: sweep.Side{Method: "greedy", N: 4}, Calls: 8}}}, "no cell of greedy:4"},
		{sweep.Config{Dir: "d", StopWhen: []sweep.Comparison{{A: sweep.Side{Method: "greedy", N: 2},
			B: sweep.Side{Method: "greedy", N: 2}, Calls: 8}}}, "both sides are the same"},
		{sweep.Config{Dir: "d", StopWhen: []sweep.Comparison{{A: sweep.Side{Method: "greedy", N: 2},
			B: sweep.Side{Method: "greedy", N: 1}, Calls: 4}}}, "the plan's budgets are [8]"},
	} {
		p := grid(1, []int{8}, sweep.Greedy(2), sweep.Greedy(1))
		model, calls := counted(p.Models[0], nil)
		p.Models[0] = model
		if _, err := p.Run(t.Context(), tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want it to say %q", err, tt.want)
		}
		if calls.total() > 0 {
			t.Errorf("%s: the model was asked", tt.want)
		}
	}
}
