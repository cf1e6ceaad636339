package evolve_test

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// scaled returns three searches for numbers whose scores are by times the number, and plus.
func scaled(t *testing.T, by, plus float64) []evolve.Arm {
	t.Helper()
	n := newNumbers(t, "0")
	tk := task.WithEvaluator(n, eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		r, err := n.Evaluate(ctx, program)
		r.Score = by*r.Score + plus
		return r, err
	}))
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: tk, LLM: climber, N: 4, Seed: 40}, 3)
	if err != nil {
		t.Fatal(err)
	}
	return arms
}

// A policy that expects rewards in [0, 1] draws alike whatever the scale of scores. What is recorded are scores.
func TestRewardsOfAnyScale(t *testing.T) {
	for _, fresh := range []func() bandit.Policy{
		func() bandit.Policy { return &bandit.UCB1{} },
		func() bandit.Policy { return &bandit.GaussianThompson{} },
		func() bandit.Policy { return &bandit.PaperEXP3P{} },
		func() bandit.Policy { return bandit.WithFloor(&bandit.Challenge{}, 0.3) },
	} {
		var want []int
		for _, scale := range []struct{ by, plus float64 }{{1, 0}, {4096, 0}, {1, -64}} {
			res := mustRun(t, evolve.Config{Arms: scaled(t, scale.by, scale.plus), Policy: fresh(),
				Budget: evolve.Budget{Rounds: 40}})
			var got []int
			for _, r := range res.Rounds {
				got = append(got, r.Pull.Arm)
				if g := res.Arms[r.Pull.Arm].Generations[r.Generation]; r.Reward != g.Best.Result.Score {
					t.Errorf("reward %v of a search whose best is %v", r.Reward, g.Best.Result.Score)
				}
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v: scores times %v plus %v: draws %v, want %v", fresh(), scale.by, scale.plus, got, want)
			}
		}
	}
}

// A search without a valid candidate is worth as much as the worst so far, and not 0, which is more where scores are
// negative.
func TestRewardWithoutAValidCandidate(t *testing.T) {
	arms := scaled(t, 1, -64)
	arms[1] = newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "none"), LLM: llm.Func(
		func(_ context.Context, req llm.Request) (llm.Reply, error) { return ok("none", req.Seed), nil }), N: 4, Strict: true})
	for _, p := range []bandit.Policy{&bandit.UCB1{}, bandit.WithFloor(&bandit.Challenge{}, 0.5)} {
		res := mustRun(t, evolve.Config{Arms: arms, Policy: p, Budget: evolve.Budget{Rounds: 40}})
		pulls, lowest := make([]int, 3), math.Inf(1)
		for _, r := range res.Rounds {
			if pulls[r.Pull.Arm]++; r.Pull.Arm == 1 && r.Reward != lowest {
				t.Errorf("%v: round %d has reward %v, want %v, the lowest so far", p, r.Pull.ID, r.Reward, lowest)
			}
			lowest = min(lowest, r.Reward)
		}
		if pulls[1] == 0 || pulls[1] >= max(pulls[0], pulls[2]) {
			t.Errorf("%v: pulls %v: the arm without a valid candidate has as many as the best", p, pulls)
		}
	}
}

// A run warns once of rewards that its policy does not expect. By default there are none.
func TestRewardsThatThePolicyDoesNotExpect(t *testing.T) {
	for _, tt := range []struct {
		policy bandit.Policy
		plus   float64
		reward func(evolve.Generation) float64
		want   int
	}{
		{&bandit.UCB1{}, -64, evolve.RawScore, 1},
		{&bandit.UCB1{}, 0, evolve.RawScore, 0},
		{&bandit.UCB1{}, -64, nil, 0},
		{&bandit.Challenge{}, -64, evolve.RawScore, 0},
		{bandit.Normalize(&bandit.UCB1{}, -100, 0), -64, evolve.RawScore, 0},
	} {
		var logged bytes.Buffer
		was := slog.Default()
		slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
		mustRun(t, evolve.Config{Arms: scaled(t, 0.5, tt.plus), Policy: tt.policy, Reward: tt.reward,
			Budget: evolve.Budget{Rounds: 8}})
		slog.SetDefault(was)
		if got := strings.Count(logged.String(), "outside of [0, 1]"); got != tt.want {
			t.Errorf("%v, scores plus %v: %d warnings, want %d:\n%s", tt.policy, tt.plus, got, tt.want, &logged)
		}
	}
}
