package evolve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A gauge scores numbers with normal noise. The k-th evaluation of a number has noise of its own.
type gauge struct {
	sd   float64
	seed uint64
	made atomic.Int64
	gone int64 // evaluations after which it fails; 0: never
	mu   sync.Mutex
	seen map[string]uint64
}

func (g *gauge) Evaluate(_ context.Context, program string) (eval.Result, error) {
	if n := g.made.Add(1); g.gone > 0 && n > g.gone {
		return eval.Result{}, errors.New("the gauge is gone")
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
	if err != nil {
		return eval.Invalid("not a number"), nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seen == nil {
		g.seen = map[string]uint64{}
	}
	g.seen[program]++
	return eval.Result{Score: v + g.sd*stream.New(g.seed, program, g.seen[program]).NormFloat64(), Valid: true}, nil
}

// wander answers with a number near the one that is shown, by seed.
var wander = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	r := stream.New(uint64(req.Seed), "wander", 0)
	return llm.Reply{Text: fmt.Sprintf("```\n%.6f\n```", shownNumber(req)+0.3*r.NormFloat64()-0.2),
		Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
})

func shownNumber(req llm.Request) float64 {
	for line := range strings.Lines(req.Messages[len(req.Messages)-1].Content) {
		if v, err := strconv.ParseFloat(strings.TrimSpace(line), 64); err == nil {
			return v
		}
	}
	return 0
}

func gauged(t testing.TB, g *gauge) task.Task {
	t.Helper()
	tk, err := task.New(task.Spec{Name: "gauge", Language: "text", Initial: "0", Evaluator: g})
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

// newNoisy returns greedy search of means: a population that takes scores for noisy, with the defaults if cfg has no Noise.
func newNoisy(t testing.TB, cfg population.Config) *population.Population {
	t.Helper()
	if cfg.Noise == nil {
		cfg.Noise = &evolve.Noise{}
	}
	p, err := population.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func noisyGreedy(t testing.TB, g *gauge, tweak func(*population.Config)) *population.Population {
	t.Helper()
	cfg := population.Config{Task: gauged(t, g), LLM: wander, N: 4}
	if tweak != nil {
		tweak(&cfg)
	}
	return newNoisy(t, cfg)
}

// A run of a noisy task scores programs again, claims its best on eight fresh samples, passes no limit, and asks for no
// child that it cannot score.
func TestNoisyRunStaysWithinItsEvaluations(t *testing.T) {
	for _, evaluations := range []int{3, 9, 37, 40, 41, 42, 43, 44, 100, 256} {
		for _, n := range []int{1, 4, 32} {
			g := &gauge{sd: 0.5, seed: 1}
			res := mustRun(t, evolve.Config{Arms: []evolve.Arm{noisyGreedy(t, g, func(c *population.Config) { c.N = n })},
				Budget: evolve.Budget{Evaluations: evaluations}})
			children := 0
			for _, gen := range res.Arms[0].Generations {
				for _, c := range gen.Children {
					if children++; c.HasProgram() && !c.Scored() {
						t.Errorf("%d evaluations, %d children a step: child %d was paid for and not scored: %s", evaluations, n, c.ID, c.Err)
					}
				}
			}
			fresh := min(8, evaluations/4)
			if res.Evaluations > evaluations || int(g.made.Load()) != res.Evaluations || res.Evaluations < evaluations*3/4-1 {
				t.Errorf("%d evaluations made and %d counted of %d", g.made.Load(), res.Evaluations, evaluations)
			}
			if fresh > 0 && (res.Fresh == nil || res.Fresh.N() != fresh || res.Unconfirmed != "") {
				t.Errorf("%d evaluations: the best has fresh samples %+v, want %d: %s", evaluations, res.Fresh, fresh, res.Unconfirmed)
			}
			if again := res.Evaluations - children - fresh - 1; evaluations == 256 && (again < children/5 || again > children/4+1) {
				t.Errorf("%d programs were scored again beside %d children", again, children)
			}
		}
	}
}

// The score of a noisy search's best is that of several samples, and its mean may fall from a step to the next.
func TestNoisyBestIsAMean(t *testing.T) {
	g := &gauge{sd: 1, seed: 3}
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{noisyGreedy(t, g, nil)}, Budget: evolve.Budget{Rounds: 60}})
	fell, many := 0, 0
	for i, gen := range res.Arms[0].Generations {
		if gen.Best.Result.Score < gen.Before.Result.Score {
			fell++
		}
		if s := gen.Best.Result.Samples; s != nil {
			many++
			if math.Abs(gen.Best.Result.Score-mean(s.Scores)) > 1e-9 {
				t.Errorf("step %d: the score %v of %v", gen.Index, gen.Best.Result.Score, s.Scores)
			}
		}
		if res.Rounds[i].Reward != gen.Best.Result.Score {
			t.Errorf("round %d: the policy was told %v, and the mean is %v", i, res.Rounds[i].Reward, gen.Best.Result.Score)
		}
	}
	if fell < 5 || many < 30 {
		t.Errorf("the best fell in %d steps, and was more than one sample in %d of 60", fell, many)
	}
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// Without noise nearly nothing is scored again.
func TestQuietScoresAreLeftAlone(t *testing.T) {
	g := &gauge{}
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{noisyGreedy(t, g, nil)}, Budget: evolve.Budget{Calls: 320}})
	if again := res.Evaluations - 320 - 1 - 8; again < 8 || again > 16 {
		t.Errorf("%d programs were scored again for 320 children", again)
	}
}

// What is claimed covers the truth, and the best's own score claims too much.
func TestFreshCoversTheTruth(t *testing.T) {
	runs := notrun.Length(60, 200)
	covered, searched, fresh := 0, 0.0, 0.0
	for seed := range uint64(runs) {
		g := &gauge{sd: 1, seed: seed}
		res := mustRun(t, evolve.Config{Arms: []evolve.Arm{noisyGreedy(t, g, func(c *population.Config) { c.Seed = uint32(seed) })},
			Budget: evolve.Budget{Evaluations: 100}})
		v, err := strconv.ParseFloat(strings.TrimSpace(res.Best.Program), 64)
		if err != nil {
			t.Fatal(err)
		}
		searched += (res.Best.Result.Score - v) / float64(runs)
		fresh += (res.Fresh.Score - v) / float64(runs)
		se, _ := res.Fresh.SE()
		if math.Abs(res.Fresh.Score-v) <= 2.3646*se { // of t with 7 degrees of freedom
			covered++
		}
	}
	// 95 % are expected; of 200 runs these are 190, with a standard deviation of 3.1.
	if n := float64(runs); float64(covered) < 0.95*n-4*math.Sqrt(0.95*0.05*n) {
		t.Errorf("%d of %d intervals cover the truth", covered, runs)
	}
	if searched < 0.2 || math.Abs(fresh) > 4/math.Sqrt(float64(8*runs)) {
		t.Errorf("the search claims %.3f too much, fresh samples %.3f", searched, fresh)
	}
}

// However a run ends, its best is scored on fresh samples, or the result says why not.
func TestFreshHoweverARunEnds(t *testing.T) {
	target := 0.5
	for _, tt := range []struct {
		reason string
		cfg    evolve.Config
		gone   int64
		off    bool
		want   string // of Unconfirmed; "-" for neither
	}{
		{"by its calls", evolve.Config{Budget: evolve.Budget{Calls: 20}}, 0, false, ""},
		{"by its target", evolve.Config{Budget: evolve.Budget{Rounds: 90, Target: &target}}, 0, false, ""},
		{"by Ctrl-C, with time left", evolve.Config{Budget: evolve.Budget{Rounds: 1 << 20}, Grace: 1 << 40}, 0, false, ""},
		{"by Ctrl-C, at once", evolve.Config{Budget: evolve.Budget{Rounds: 1 << 20}}, 0, false, "grace period of 0s is over"},
		{"by an evaluator that is gone at the end", evolve.Config{Budget: evolve.Budget{Rounds: 4}}, 20, false, "the gauge is gone"},
		{"and none are wanted", evolve.Config{Budget: evolve.Budget{Rounds: 4}}, 0, true, "-"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if strings.Contains(tt.reason, "Ctrl-C") {
			tt.cfg.Observer = func(e evolve.Event) {
				if e.Kind == evolve.EventGeneration && e.Generation.Index == 5 {
					cancel()
				}
			}
		}
		g := &gauge{sd: 1, seed: 5, gone: tt.gone}
		tt.cfg.Arms = []evolve.Arm{noisyGreedy(t, g, func(c *population.Config) {
			if tt.off {
				c.Noise = &evolve.Noise{Fresh: -1}
			}
		})}
		res, err := evolve.Run(ctx, tt.cfg)
		if err != nil {
			t.Fatalf("%s: %v", tt.reason, err)
		}
		switch {
		case tt.want == "" && (res.Fresh == nil || res.Fresh.N() != 8 || res.Unconfirmed != ""):
			t.Errorf("%s: %+v, %q", tt.reason, res.Fresh, res.Unconfirmed)
		case tt.want == "-" && (res.Fresh != nil || res.Unconfirmed != ""):
			t.Errorf("%s: %+v, %q", tt.reason, res.Fresh, res.Unconfirmed)
		case tt.want != "" && tt.want != "-" && !strings.Contains(res.Unconfirmed, tt.want):
			t.Errorf("%s: %q, want %q", tt.reason, res.Unconfirmed, tt.want)
		}
		if calls := g.made.Load(); int(calls) > res.Evaluations && tt.gone == 0 {
			t.Errorf("%s: %d evaluations made, %d counted", tt.reason, calls, res.Evaluations)
		}
	}
}

// A run that is paused and goes on has the result of one that was not, and one that is read again evaluates nothing.
func TestNoisyRunIsResumed(t *testing.T) {
	for _, window := range []int{0, 3} {
		path := filepath.Join(t.TempDir(), "run.journal")
		run := func(ctx context.Context, path string, stop int) (*evolve.Result, int64) {
			g := &gauge{sd: 1, seed: 9}
			j, err := journal.Open(path, journal.Config{Resume: true})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			res, err := evolve.Run(ctx, evolve.Config{Journal: j, Grace: 1 << 40, Budget: evolve.Budget{Evaluations: 120},
				Arms: []evolve.Arm{noisyGreedy(t, g, func(c *population.Config) { c.N, c.Window = 8, window })},
				Observer: func(e evolve.Event) {
					if e.Kind == evolve.EventGeneration && e.Generation.Index == stop {
						cancel()
					}
				}})
			if err != nil {
				t.Fatal(err)
			}
			return res, g.made.Load()
		}
		first, _ := run(t.Context(), path, 3)
		if first.Stop != evolve.StopCanceled || first.Fresh == nil || first.Fresh.N() != 8 {
			t.Fatalf("paused: %s, %+v: %s", first.Stop, first.Fresh, first.Unconfirmed)
		}
		second, _ := run(t.Context(), path, -1)
		again, made := run(t.Context(), path, -1)
		if made != 0 {
			t.Errorf("window %d: a run that is over made %d evaluations", window, made)
		}
		if second.Evaluations > 120 || second.Fresh.N() != 8 || second.Stop != evolve.StopBudget {
			t.Errorf("window %d: %d evaluations, %+v, %s", window, second.Evaluations, second.Fresh, second.Stop)
		}
		if diff := cmp.Diff(second, again, cmpopts.IgnoreTypes(time.Duration(0))); diff != "" {
			t.Errorf("window %d: read again: %s", window, diff)
		}
	}
}

// A stop whose fresh samples a kill cut off gets them when the run is read again.
func TestFreshSamplesAreMadeUpFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	var res [2]*evolve.Result
	for i, gone := range []int64{23, 0} {
		j, err := journal.Open(path, journal.Config{Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		arm := noisyGreedy(t, &gauge{sd: 1, seed: 9, gone: gone}, nil)
		if res[i], err = evolve.Run(t.Context(), evolve.Config{Journal: j, Budget: evolve.Budget{Rounds: 4}, Arms: []evolve.Arm{arm}}); err != nil {
			t.Fatal(err)
		}
		j.Close()
	}
	if res[0].Unconfirmed == "" || res[1].Unconfirmed != "" || res[1].Fresh.N() != 8 {
		t.Errorf("first %q, then %+v, %q", res[0].Unconfirmed, res[1].Fresh, res[1].Unconfirmed)
	}
}

func TestNoisyFieldsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		noise evolve.Noise
		want  string
	}{
		{evolve.Noise{Rescore: math.NaN()}, "Rescore is NaN"},
		{evolve.Noise{Rescore: 65}, "Rescore is 65"},
		{evolve.Noise{Keep: -1}, "Keep is -1"},
	} {
		cfg := population.Config{Task: gauged(t, &gauge{}), LLM: wander, Noise: &tt.noise}
		if _, err := population.New(cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("population.New: %v, want %q", err, tt.want)
		}
		g := newGreedy(t, evolve.GreedyConfig{Task: cfg.Task, LLM: wander})
		g.Noise = &tt.noise
		if _, err := g.Step(t.Context(), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Step: %v, want %q", err, tt.want)
		}
	}
}

// An evaluator that panics, or ends its goroutine, while a program is scored again ends the search with an error, and not
// the process, also where nobody but the search guards it.
func TestScoringAgainIsGuarded(t *testing.T) {
	for reason, bad := range map[string]func(){"panicked": func() { panic("the gauge broke") }, "ended its goroutine": runtime.Goexit} {
		var made atomic.Int64
		g := &gauge{sd: 1}
		e := eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			if made.Add(1) > 5 { // the initial program and four children
				bad()
			}
			return g.Evaluate(ctx, program)
		})
		tk := task.WithEvaluator(gauged(t, g), e)
		s := newNoisy(t, population.Config{Task: tk, LLM: wander, N: 4, Noise: &evolve.Noise{Rescore: 1}})
		if _, err := s.Step(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Step(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "scoring a program again") || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, want that scoring a program again %s", err, reason)
		}
	}
}

// The best is scored on as many fresh samples as its own search wants, also if another one wants more.
func TestFreshIsThatOfTheArm(t *testing.T) {
	few := noisyGreedy(t, &gauge{}, func(c *population.Config) {
		c.Noise, c.Start = &evolve.Noise{Fresh: 3}, &eval.Candidate{Program: "50", Result: eval.Result{Valid: true, Score: 50}}
	})
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{noisyGreedy(t, &gauge{}, nil), few}, Policy: &bandit.UCB1{}, Budget: evolve.Budget{Evaluations: 60}})
	if res.BestArm != 1 || res.Fresh == nil || res.Fresh.N() != 3 || res.Unconfirmed != "" {
		t.Errorf("arm %d, fresh samples %+v: %s", res.BestArm, res.Fresh, res.Unconfirmed)
	}
}
