package evolve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

func mustRun(t testing.TB, cfg evolve.Config) *evolve.Result {
	t.Helper()
	res, err := evolve.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// However the rounds are split, a run makes exactly the calls of its budget.
func TestRunSpendsTheBudget(t *testing.T) {
	for _, inFlight := range []int{1, 3, 10} {
		for _, calls := range []int{1, 7, 8, 83} {
			res := mustRun(t, evolve.Config{Arms: arms(t, 5, 8), Policy: &bandit.UCB1{}, InFlight: inFlight,
				Budget: evolve.Budget{Calls: calls}})
			made := 0
			for range res.Attempts {
				made++
			}
			if made != calls || res.Calls != calls || res.Stop != evolve.StopBudget || res.Limit != "Calls" {
				t.Errorf("%d in flight, budget %d: %d calls counted, %d made, stopped by %s %s", inFlight, calls, res.Calls, made,
					res.Stop, res.Limit)
			}
			if want := (calls + 7) / 8; len(res.Rounds) != want {
				t.Errorf("%d in flight, budget %d: %d rounds, want %d", inFlight, calls, len(res.Rounds), want)
			}
		}
	}
}

func TestRunFindsTheBest(t *testing.T) {
	res := mustRun(t, evolve.Config{Arms: arms(t, 4, 8), Policy: &bandit.UCB1{}, Budget: evolve.Budget{Rounds: 20}})
	best, at := math.Inf(-1), 0
	for i, a := range res.Arms {
		if a.Best.Result.Score > best {
			best, at = a.Best.Result.Score, i
		}
	}
	if best <= 0 || res.Best.Result.Score != best || res.BestArm != at {
		t.Errorf("best %v of arm %d, want %v of arm %d", res.Best.Result.Score, res.BestArm, best, at)
	}
	if last := res.Rounds[len(res.Rounds)-1]; last.Best != best || res.Stop != evolve.StopBudget || res.Limit != "Rounds" {
		t.Errorf("after the last round the best was %v; stopped by %s %s", last.Best, res.Stop, res.Limit)
	}
}

func TestRunClosesArms(t *testing.T) {
	res := mustRun(t, evolve.Config{Arms: arms(t, 3, 2), Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Rounds: 100, RoundsPerArm: 4}})
	if res.Stop != evolve.StopExhausted || len(res.Rounds) != 12 {
		t.Errorf("stopped by %s after %d rounds, want exhausted after 12", res.Stop, len(res.Rounds))
	}
	for i, a := range res.Arms {
		if len(a.Generations) != 4 {
			t.Errorf("arm %d got %d rounds, want its 4", i, len(a.Generations))
		}
	}
}

// An arm that is done is closed, and those that are not go on.
func TestRunClosesArmsThatAreDone(t *testing.T) {
	list := arms(t, 2, 2)
	short := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "100"), LLM: climber, N: 2, MaxGenerations: 2})
	res := mustRun(t, evolve.Config{Arms: append(list, short), Policy: &bandit.UCB1{}, Budget: evolve.Budget{Rounds: 30}})
	if len(res.Arms[2].Generations) != 2 || len(res.Rounds) != 30 || res.BestArm != 2 {
		t.Errorf("the short arm got %d rounds of %d", len(res.Arms[2].Generations), len(res.Rounds))
	}
}

func TestRunTarget(t *testing.T) {
	target := 0.02
	res := mustRun(t, evolve.Config{Arms: arms(t, 4, 8), Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Rounds: 1000, Target: &target}})
	if res.Stop != evolve.StopTarget || res.Best.Result.Score < target || len(res.Rounds) == 1000 {
		t.Errorf("stopped by %s at %v after %d rounds", res.Stop, res.Best.Result.Score, len(res.Rounds))
	}
	before := res.Rounds[len(res.Rounds)-2]
	if before.Best >= target {
		t.Errorf("went on after %v", before.Best)
	}
}

// slowly is climber with replies that take their time.
func slowly(delay func(req llm.Request) time.Duration) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		select {
		case <-time.After(delay(req)):
			return climber(ctx, req)
		case <-ctx.Done():
			return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Canceled, MaxTokens: 100, Err: "canceled"}}}, ctx.Err()
		}
	})
}

func TestRunCancel(t *testing.T) {
	for _, inFlight := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			model := slowly(func(req llm.Request) time.Duration { return time.Duration(req.Seed%1000) * time.Millisecond })
			list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: llm.Limit(model, 4), N: 8}, 5)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10500*time.Millisecond)
			defer cancel()
			res, err := evolve.Run(ctx, evolve.Config{Arms: list, Policy: &bandit.UCB1{}, InFlight: inFlight,
				Budget: evolve.Budget{Calls: 1 << 20}})
			if err != nil || res.Stop != evolve.StopCanceled {
				t.Fatalf("stopped by %s with %v", res.Stop, err)
			}
			partial, canceled := 0, 0
			for _, r := range res.Rounds {
				if res.Arms[r.Pull.Arm].Generations[r.Generation].Partial {
					partial++
				}
			}
			for a := range res.Attempts {
				if a.Status == llm.Canceled {
					canceled++
				}
			}
			if partial != inFlight || canceled == 0 || canceled > 4 {
				t.Errorf("%d in flight: %d partial rounds and %d canceled attempts", inFlight, partial, canceled)
			}
		})
	}
}

func TestRunErrorKeepsWhatWasPaidFor(t *testing.T) {
	calls := atomic.Int64{}
	dead := &llm.Error{Status: llm.Failed, Kind: llm.KindRefused, Endpoint: "http://localhost:1",
		Err: errors.New("connection refused")}
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if calls.Add(1) > 20 {
			return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: llm.KindRefused}}}, dead
		}
		return climber(ctx, req)
	})
	list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: llm.Limit(model, 1), N: 8}, 3)
	if err != nil {
		t.Fatal(err)
	}
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: list, Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Calls: 100}})
	if !errors.Is(err, dead) || res == nil || res.Stop != evolve.StopError {
		t.Fatalf("result %v, error %v", res, err)
	}
	okay := 0
	for a := range res.Attempts {
		if a.Status == llm.OK {
			okay++
		}
	}
	if okay != 20 {
		t.Errorf("%d answered calls in the result, want all 20", okay)
	}
}

// watcher is a policy that checks what a policy is promised.
type watcher struct {
	t       *testing.T
	late    int // outcomes that came after a later pull's
	most    int // pulls in flight at once
	updates int
}

func (w *watcher) Probs(p []float64, r bandit.Round) {
	open := 0
	for i, o := range r.Open {
		if o && r.Pending[i] > 0 {
			w.t.Errorf("arm %d is open with %d pulls in flight", i, r.Pending[i])
		}
		if o {
			open++
		}
	}
	for i, o := range r.Open {
		if o {
			p[i] = 1 / float64(open)
		}
	}
	pending := 0
	for _, n := range r.Pending {
		pending += n
	}
	w.most = max(w.most, pending+1)
}

func (w *watcher) Update(pull bandit.Pull, reward float64) {
	if w.updates != pull.ID {
		w.late++
	}
	w.updates++
}

func TestRunInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := slowly(func(req llm.Request) time.Duration { return time.Duration(req.Seed%1000) * time.Millisecond })
		list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: llm.Limit(model, 14), N: 4}, 9)
		if err != nil {
			t.Fatal(err)
		}
		w := &watcher{t: t}
		res := mustRun(t, evolve.Config{Arms: list, Policy: w, InFlight: 4, Budget: evolve.Budget{Rounds: 60}})
		if w.most <= 4 || w.most > 8 || w.late == 0 || w.updates != 60 {
			t.Errorf("%d in flight at most, %d outcomes out of order of %d; want more than 4 when places are idle, at most 8; some; 60", w.most, w.late, w.updates)
		}
		for i, r := range res.Rounds {
			if r.Pull.ID != i || res.Arms[r.Pull.Arm].Generations[r.Generation].Partial {
				t.Errorf("round %d is %+v", i, r)
			}
		}
	})
}

// noisy draws at random so that a policy's own stream is in use.
type noisy struct{}

func (noisy) Probs(p []float64, r bandit.Round) {
	bandit.OneHot(p, r.Open, func(int) float64 { return r.Rand.Float64() })
}
func (noisy) Update(bandit.Pull, float64) {}

func TestRunPolicyErrors(t *testing.T) {
	for _, tt := range []struct {
		want   string
		policy bandit.Policy
		reward func(evolve.Generation) float64
	}{
		{"sum to 0", constant(0), nil},
		{"NaN", constant(math.NaN()), nil},
		{"-1", constant(-1), nil},
		{"reward NaN", noisy{}, func(evolve.Generation) float64 { return math.NaN() }},
	} {
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: arms(t, 2, 2), Policy: tt.policy, Reward: tt.reward,
			Budget: evolve.Budget{Rounds: 3}})
		if err == nil || !strings.Contains(err.Error(), tt.want) || res == nil || res.Stop != evolve.StopError {
			t.Errorf("error %v, want one that says %q", err, tt.want)
		}
	}
}

type constant float64

func (c constant) Probs(p []float64, r bandit.Round) {
	for i := range p {
		p[i] = float64(c)
	}
}
func (constant) Update(bandit.Pull, float64) {}

func TestConfigErrors(t *testing.T) {
	list := arms(t, 2, 2)
	some := evolve.Budget{Rounds: 1}
	for _, tt := range []struct {
		want string
		cfg  evolve.Config
	}{
		{"Arms is empty", evolve.Config{Policy: noisy{}, Budget: some}},
		{"Policy is nil with 2 arms", evolve.Config{Arms: list, Budget: some}},
		{"InFlight is -1", evolve.Config{Arms: list, Policy: noisy{}, Budget: some, InFlight: -1}},
		{"no limit", evolve.Config{Arms: list, Policy: noisy{}}},
		{"Budget.Calls is -5", evolve.Config{Arms: list, Policy: noisy{}, Budget: evolve.Budget{Calls: -5}}},
	} {
		if res, err := evolve.Run(t.Context(), tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) || res != nil {
			t.Errorf("error %v, want one that says %q", err, tt.want)
		}
	}
}

func TestRunEvents(t *testing.T) {
	var kinds []string
	calls := 0
	mustRun(t, evolve.Config{Arms: arms(t, 2, 3), Policy: &bandit.UCB1{}, Budget: evolve.Budget{Rounds: 3},
		Observer: func(e evolve.Event) {
			kinds = append(kinds, string(e.Kind))
			if e.Kind == evolve.EventGeneration {
				calls += len(e.Generation.Children)
				if e.Calls != calls || e.Generation.Children[0].Attempts == nil {
					t.Errorf("event says %d calls, want %d", e.Calls, calls)
				}
			}
		}})
	if got := strings.Join(kinds, " "); got != strings.Repeat("draw child child child generation ", 3)+"stop" {
		t.Errorf("events: %s", got)
	}
}

// An unevaluated start with an invalid program is told as such, and anything valid is better.
func TestRunFromInvalidStart(t *testing.T) {
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "nothing yet"), N: 2, Seed: 4,
		LLM: answers(4, 2, func(i int) (llm.Reply, error) { return ok("-3", 1), nil })})
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 1}})
	if res.Arms[0].Start.Result.Reason == "" || !res.Best.Result.Valid || res.Best.Result.Score != -3 {
		t.Errorf("start %+v, best %+v", res.Arms[0].Start, res.Best)
	}
}

// Property: whatever the arms, policy, budget and luck, no limit is passed and nothing is counted twice.
func TestRunProperties(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		k, n := 1+rng.IntN(6), 1+rng.IntN(9)
		cfg := evolve.Config{Arms: arms(t, k, n), Policy: noisy{}, InFlight: 1 + rng.IntN(8), Seed: seed,
			Budget: evolve.Budget{Calls: rng.IntN(200), Rounds: rng.IntN(30), RoundsPerArm: 1 + rng.IntN(20)}}
		res := mustRun(t, cfg)
		name := fmt.Sprintf("seed %d, K=%d, N=%d, %+v", seed, k, n, cfg.Budget)
		if b := cfg.Budget; b.Calls > 0 && res.Calls > b.Calls || b.Rounds > 0 && len(res.Rounds) > b.Rounds {
			t.Errorf("%s: %d calls in %d rounds", name, res.Calls, len(res.Rounds))
		}
		pulls, calls := make([]int, k), 0
		for _, r := range res.Rounds {
			pulls[r.Pull.Arm]++
		}
		for i, a := range res.Arms {
			if pulls[i] != len(a.Generations) || pulls[i] > cfg.Budget.RoundsPerArm {
				t.Errorf("%s: arm %d: %d pulls, %d generations", name, i, pulls[i], len(a.Generations))
			}
			for j, g := range a.Generations {
				calls += len(g.Children)
				if g.Index != j+1 {
					t.Errorf("%s: arm %d: generation %d at place %d", name, i, g.Index, j)
				}
			}
		}
		if calls != res.Calls {
			t.Errorf("%s: %d calls counted, %d in the result", name, res.Calls, calls)
		}
	}
}
