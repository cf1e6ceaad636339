package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/evolve/replay"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// liveArms returns real searches: programs are numbers, and a child's depends on its seed and its parent.
func liveArms(t *testing.T, k int, b evolve.Breadth) []evolve.Arm {
	t.Helper()
	numbers, err := task.New(task.Spec{
		Name: "numbers", Language: "text", System: "Write a larger number.", Initial: "0.1",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
			if err != nil {
				return eval.Invalid("not a number"), nil
			}
			return eval.Result{Score: v, Valid: true}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "text")
		if err != nil {
			return llm.Reply{}, err
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
		u := float64(req.Seed) / (1 << 32)
		if u > 0.8 {
			v += (1 - v) * (u - 0.8)
		}
		return llm.Reply{Text: fmt.Sprintf("```text\n%v\n```", v), Attempts: []llm.Attempt{{Status: llm.OK}}}, err
	})
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: numbers, LLM: model, N: widest(b), Breadth: b, Seed: 40}, k)
	if err != nil {
		t.Fatal(err)
	}
	return arms
}

// widest returns the N of a search: 2, or with a breadth 16.
func widest(b evolve.Breadth) int {
	if b == nil {
		return 2
	}
	return 16
}

// resultOf makes a run and returns its result file.
func resultOf(t *testing.T, p bandit.Policy, b evolve.Breadth, budget evolve.Budget, seed uint64) ([]byte, *evolve.Result) {
	t.Helper()
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: liveArms(t, 5, b), Policy: p, Seed: seed, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(report.NewBandit(res, report.BanditHeader{
		Header: report.Header{Task: "numbers", Model: llm.Model{Key: "test", Name: "test", ActiveParams: 1}, T: budget.Rounds,
			N: widest(b), Breadth: b},
		Algo: "test", Policy: fmt.Sprint(p), BanditSeed: seed, ArmSeeds: []uint32{40, 41, 42, 43, 44},
	}))
	if err != nil {
		t.Fatal(err)
	}
	return file, res
}

func read(t *testing.T, file string) replay.Log {
	t.Helper()
	l, err := replay.Read(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var livePolicies = []struct {
	name  string
	fresh func() bandit.Policy
}{
	{"ucb", func() bandit.Policy { return bandit.Rescale(&bandit.UCB1{}) }},
	{"exp3p", func() bandit.Policy { return bandit.Rescale(&bandit.PaperEXP3P{}) }},
	{"thompson", func() bandit.Policy { return bandit.Rescale(&bandit.GaussianThompson{}) }},
	{"random", func() bandit.Policy { return bandit.Random{} }},
	{"the default", func() bandit.Policy { return &bandit.ExpectedImprovement{T: 120} }},
	{"a floor", func() bandit.Policy { return bandit.Rescale(bandit.WithFloor(&bandit.UCB1{}, 0.2)) }},
}

// checkRepeats checks that the policy that made a log makes the same selections over it, with the same propensities.
func checkRepeats(t *testing.T, l replay.Log, p bandit.Policy, limit int) {
	t.Helper()
	played, err := replay.Play(p, l.Arms, replay.Config{Rounds: len(l.Run.Selections), Cap: limit, Seed: l.Run.Seed})
	if err != nil || !slices.Equal(played.Selections, l.Run.Selections) ||
		!slices.Equal(played.Propensities, l.Run.Propensities) {
		t.Errorf("%v, cap %d: draws %v with %v, the log has %v with %v: %v", p, limit, played.Selections, played.Propensities,
			l.Run.Selections, l.Run.Propensities, err)
	}
}

// A run of the library, written as JSON and read back, is repeated by the policy that made it.
func TestRunsAreRepeated(t *testing.T) {
	for _, budget := range []evolve.Budget{{Rounds: 60}, {Rounds: 60, RoundsPerArm: 14}} {
		for _, p := range livePolicies {
			file, res := resultOf(t, p.fresh(), nil, budget, 7)
			l := read(t, string(file))
			if len(l.Run.Selections) != len(res.Rounds) || len(res.Rounds) < 50 {
				t.Fatalf("%s: %d rounds in the log, %d in the run", p.name, len(l.Run.Selections), len(res.Rounds))
			}
			for i, r := range res.Rounds {
				if l.Run.Selections[i] != r.Pull.Arm || l.Run.Rewards[i] != r.Reward || l.Run.Propensities[i] != r.Pull.Prob {
					t.Fatalf("%s: round %d is read as arm %d, reward %v", p.name, i, l.Run.Selections[i], l.Run.Rewards[i])
				}
			}
			checkRepeats(t, l, p.fresh(), budget.RoundsPerArm)
			l.Run.Seed++
			played, err := replay.Play(p.fresh(), l.Arms, replay.Config{Rounds: 60, Cap: budget.RoundsPerArm, Seed: l.Run.Seed})
			if err != nil || p.name == "random" && slices.Equal(played.Selections, l.Run.Selections) {
				t.Errorf("%s: another seed repeats the run: %v", p.name, err)
			}
		}
	}
}

// Of a run whose pulls differ in size, the log has the size of each, and the policy that made it repeats it.
func TestRunsOfABreadthAreRepeated(t *testing.T) {
	for _, p := range livePolicies {
		file, res := resultOf(t, p.fresh(), breadth.Adaptive{}, evolve.Budget{Rounds: 60}, 7)
		l := read(t, string(file))
		made := make([]int, len(l.Arms))
		for i, r := range res.Rounds {
			if got := l.Arms[r.Pull.Arm].Calls[made[r.Pull.Arm]]; got != r.Pull.Calls {
				t.Fatalf("%s: round %d is read with %d calls, want %d", p.name, i, got, r.Pull.Calls)
			}
			made[r.Pull.Arm]++
		}
		checkRepeats(t, l, p.fresh(), 0)
	}
}

// A replay has the same scores as the run.
func TestReplayComesToTheSame(t *testing.T) {
	file, res := resultOf(t, &bandit.GaussianThompson{}, nil, evolve.Budget{Rounds: 40}, 1)
	l := read(t, string(file))
	played, err := replay.Play(bandit.Rescale(&bandit.GaussianThompson{}), l.Arms, replay.Config{Rounds: 40, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range res.Rounds {
		if played.Best[i+1] != r.Best || played.Rewards[i] != r.Reward {
			t.Fatalf("round %d: best %v, reward %v; in the run %v, %v", i, played.Best[i+1], played.Rewards[i], r.Best, r.Reward)
		}
	}
}

// A run that a failing model cut short has a round of which the policy heard nothing.
func TestInterruptedRun(t *testing.T) {
	arms := liveArms(t, 2, nil)
	calls := 0
	arms[1] = failing{arms[1], &calls}
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, Seed: 2,
		Budget: evolve.Budget{Rounds: 40}})
	last := res.Rounds[len(res.Rounds)-1]
	if err == nil || !res.Arms[last.Pull.Arm].Generations[last.Generation].Partial {
		t.Fatalf("the run was not cut short: %v", err)
	}
	file, err := json.Marshal(report.NewBandit(res, report.BanditHeader{
		Header: report.Header{Task: "numbers", Model: llm.Model{Key: "test", ActiveParams: 1}, T: 40, N: 2}, BanditSeed: 2,
		ArmSeeds: []uint32{40, 41},
	}))
	if err != nil {
		t.Fatal(err)
	}
	l, err := replay.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Run.Selections) != len(res.Rounds)-1 {
		t.Errorf("%d rounds are read of %d, the last of them cut short", len(l.Run.Selections), len(res.Rounds))
	}
	checkRepeats(t, l, bandit.Rescale(&bandit.UCB1{}), 0)
}

// failing is an arm that fails in its sixth step.
type failing struct {
	evolve.Arm
	calls *int
}

func (f failing) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	if *f.calls++; *f.calls == 6 {
		return evolve.Generation{Index: 6, Before: f.Best(), Best: f.Best(), Partial: true},
			fmt.Errorf("the endpoint is gone")
	}
	return f.Arm.Step(ctx, turn)
}
