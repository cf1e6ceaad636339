package layers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/layers"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
)

func TestBudgetIsSplit(t *testing.T) {
	for _, c := range []struct {
		change func(*layers.Config)
		want   []int
		why    string
	}{
		{func(c *layers.Config) {}, []int{20, 20}, "a half each by default, though steps are of 3 and 4"},
		{func(c *layers.Config) { c.Share = 0.75 }, []int{30, 10}, "three quarters"},
		{func(c *layers.Config) { c.Share = 0.01 }, []int{1, 39}, "at least one call for a base"},
	} {
		cfg := config(t, llm.Func(writer), 1)
		c.change(&cfg)
		l := newLayers(t, cfg)
		res := run(t, l, 1000)
		if got := spent(l.Result()); !slices.Equal(got, c.want) || res.Calls != 40 || res.Stop != evolve.StopExhausted {
			t.Errorf("%s: stages had %v calls, the run %d and stopped by %s; want %v", c.why, got, res.Calls, res.Stop, c.want)
		}
	}
}

// A smaller budget of the run around it ends it, whichever stage it is in.
func TestRunsBudgetHolds(t *testing.T) {
	for _, calls := range []int{7, 20, 33} {
		l := newLayers(t, config(t, llm.Func(writer), 1))
		if res := run(t, l, calls); res.Calls != calls || res.Stop != evolve.StopBudget {
			t.Errorf("%d calls, stopped by %s; want %d by the budget", res.Calls, res.Stop, calls)
		}
	}
}

func TestAnswerIsTheCombination(t *testing.T) {
	cfg := config(t, llm.Func(writer), 1)
	cfg.Whole = func(pool []eval.Candidate, combination string) string {
		return fmt.Sprintf("%s of %s", combination, layers.Digest(pool))
	}
	l := newLayers(t, cfg)
	res := run(t, l, 40)
	base, win := l.Result().Arms[0].Best, l.Result().Arms[1].Best
	if !l.Promoted() || !win.Better(base) || res.Best.Result.Score != win.Result.Score {
		t.Fatalf("the answer scores %v, the best base %v and the best combination %v", res.Best.Result.Score,
			base.Result.Score, win.Result.Score)
	}
	if want := win.Program + " of " + layers.Digest(l.Pool()); res.Best.Program != want {
		t.Errorf("the answer is %q, want %q", res.Best.Program, want)
	}
}

// Every combination is worse than the best base, or invalid.
func TestLosingCombinationIsNotTheAnswer(t *testing.T) {
	for _, c := range []struct {
		result eval.Result
		margin float64
		want   bool
		why    string
	}{
		{eval.Result{Valid: true, Score: 0.01}, 0, false, "worse"},
		{eval.Result{Valid: true, Score: 2}, 5, false, "not better by enough"},
		{eval.Result{Valid: true, Score: 2}, 0, true, "better"},
		{eval.Invalid("no"), 0, false, "invalid is never accepted"},
	} {
		cfg := config(t, llm.Func(writer), 1)
		cfg.Margin = c.margin
		cfg.Combine = func([]eval.Candidate) (evolve.Arm, error) {
			tk := made(t, "choices", "0 0 0 0", eval.Func(func(context.Context, string) (eval.Result, error) {
				return c.result, nil
			}))
			return evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: llm.Func(writer), N: 4})
		}
		l := newLayers(t, cfg)
		res := run(t, l, 40)
		base := l.Result().Arms[0].Best
		if l.Promoted() != c.want || (res.Best.Program == base.Program) == c.want {
			t.Errorf("%s: promoted %v, the answer is %q and the best base %q", c.why, l.Promoted(), res.Best.Program,
				base.Program)
		}
	}
}

func TestNoValidBase(t *testing.T) {
	useless := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		reply, err := writer(ctx, req)
		reply.Text = "```text\n-1 0\n```"
		return reply, err
	})
	cfg := config(t, useless, 1)
	cfg.Bases = greedy(t, useless, "no pair", 5)
	cfg.Combine = func([]eval.Candidate) (evolve.Arm, error) { return nil, errors.New("nothing to combine") }
	l := newLayers(t, cfg)
	res := run(t, l, 1000)
	if got := spent(l.Result()); !slices.Equal(got, []int{40, 0}) || res.Best.Result.Valid || l.Pool() != nil {
		t.Errorf("stages had %v calls, the best is %+v", got, res.Best.Result)
	}
}

func greedy(t *testing.T, l llm.LLM, initial string, n int) *evolve.Greedy {
	t.Helper()
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: pairs(t, initial), LLM: l, N: n})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The first base that is valid comes late: stage two begins then, and has what is left.
func TestLateBase(t *testing.T) {
	var asked atomic.Int64
	late := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		reply, err := writer(ctx, req)
		if n := asked.Add(1); n <= 27 {
			reply.Text = "```text\n-1 0\n```"
		} else if n == 28 {
			reply.Text = "```text\n0.5 1\n```"
		}
		return reply, err
	})
	cfg := config(t, late, 1)
	cfg.Bases = greedy(t, late, "no pair", 1)
	l := newLayers(t, cfg)
	run(t, l, 1000)
	if got := spent(l.Result()); !slices.Equal(got, []int{28, 12}) || len(l.Pool()) != 1 {
		t.Errorf("stages had %v calls, with %d bases; want 28 and 12, with one", got, len(l.Pool()))
	}
}

func TestStageOneDoneEarly(t *testing.T) {
	for _, c := range []struct {
		generations int
		want        []int
	}{{2, []int{6, 34}}, {100, []int{20, 20}}} {
		cfg := config(t, llm.Func(writer), 1)
		bases, err := population.New(population.Config{Task: pairs(t, "0.1 0"), LLM: llm.Func(writer), N: 3,
			MaxGenerations: c.generations})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Bases = bases
		l := newLayers(t, cfg)
		run(t, l, 1000)
		if got := spent(l.Result()); !slices.Equal(got, c.want) {
			t.Errorf("with %d generations stages had %v calls, want %v", c.generations, got, c.want)
		}
	}
}

// given is a search that has nothing to search: its program is the pool.
type given struct{ eval.Candidate }

func (g given) Step(context.Context, *evolve.Turn) (evolve.Generation, error) {
	return evolve.Generation{}, evolve.ErrDone
}
func (g given) Best() eval.Candidate { return g.Candidate }
func (g given) Done() bool           { return true }

func TestStageOneWithNothingToDo(t *testing.T) {
	cfg := config(t, llm.Func(writer), 1)
	cfg.Bases = given{eval.Candidate{Program: "1 0", Result: eval.Result{Valid: true, Score: 0.1,
		Cases: []float64{1, 0, 0, 0}}}}
	l := newLayers(t, cfg)
	run(t, l, 1000)
	if got := spent(l.Result()); !slices.Equal(got, []int{0, 40}) {
		t.Errorf("stages had %v calls, want all in stage two", got)
	}
}

func TestStageTwoThatCannotBeMade(t *testing.T) {
	for _, err := range []error{errors.New("no room"), nil} {
		cfg := config(t, llm.Func(writer), 1)
		cfg.Combine = func([]eval.Candidate) (evolve.Arm, error) { return nil, err }
		res, got := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{newLayers(t, cfg)}, Policy: bandit.Random{},
			Budget: evolve.Budget{Calls: 40}})
		if got == nil || !strings.Contains(got.Error(), "combining 3 bases") || res.Calls != 20 || !res.Best.Result.Valid {
			t.Errorf("error %v after %d calls; want one after stage one, with its best", got, res.Calls)
		}
	}
}

func TestWrongConfigs(t *testing.T) {
	for _, c := range []struct {
		change func(*layers.Config)
		want   string
	}{
		{func(c *layers.Config) { c.Bases = nil }, "Config.Bases"},
		{func(c *layers.Config) { c.Combine = nil }, "Config.Combine"},
		{func(c *layers.Config) { c.Calls = 1 }, "Config.Calls is 1"},
		{func(c *layers.Config) { c.Share = 1 }, "Config.Share is 1"},
		{func(c *layers.Config) { c.Most = -1 }, "Config.Most is -1"},
		{func(c *layers.Config) { c.Margin = -1 }, "Config.Margin is -1"},
	} {
		cfg := config(t, llm.Func(writer), 1)
		c.change(&cfg)
		if _, err := layers.New(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
