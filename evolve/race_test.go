package evolve_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// racing returns a greedy search that races, in which a child is worth step more or less than its parent.
func racing(t testing.TB, g *gauge, n, window int, step float64) *evolve.Greedy {
	return noisyGreedy(t, g, func(c *evolve.GreedyConfig) {
		c.N, c.Window, c.Race, c.Fresh = n, window, 0.8, -1
		c.LLM = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			to := step
			if req.Seed%2 == 0 {
				to = -step
			}
			return llm.Reply{Text: fmt.Sprintf("```\n%.6f\n```", shownNumber(req)+to), Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
		})
	})
}

// Where children are worth a millionth of the noise more or less, at most one race in five is won, although each is looked
// at up to 16 times. Where they are worth ten times the noise, nearly all good ones win.
func TestRaceReplacesTheBestOnlyByWhatIsBetter(t *testing.T) {
	wins := func(step float64) (races, won int) {
		for seed := range uint64(40) {
			res := mustRun(t, evolve.Config{Arms: []evolve.Arm{racing(t, &gauge{sd: 1, seed: seed}, 1, 0, step)}, Budget: evolve.Budget{Calls: 20}})
			for _, gen := range res.Arms[0].Generations {
				if gen.Evaluations > 2 { // the first step also evaluates the initial program
					races++
				}
				if gen.Best.Program != gen.Before.Program {
					won++
				}
			}
		}
		return races, won
	}
	races, won := wins(1e-6)
	if bound := 0.2*float64(races) + 3*math.Sqrt(0.16*float64(races)); races < 100 || float64(won) > bound {
		t.Errorf("equals: %d of %d races are won, want at most %.0f", won, races, bound)
	}
	if races, won = wins(10); won < races*9/10 || races < 300 {
		t.Errorf("large differences: %d of %d races are won", won, races)
	}
}

// Races stay within the budget, every child that was paid for is scored, and the best has the mean of its samples.
func TestRaceStaysWithinItsEvaluations(t *testing.T) {
	for _, evaluations := range []int{3, 40, 100, 256} {
		for _, n := range []int{1, 8} {
			g := &gauge{sd: 0.5, seed: 1}
			res := mustRun(t, evolve.Config{Arms: []evolve.Arm{racing(t, g, n, 0, 0.5)}, Budget: evolve.Budget{Evaluations: evaluations}})
			if res.Evaluations > evaluations || int(g.made.Load()) != res.Evaluations || evaluations > 40 && res.Evaluations < evaluations-33 {
				t.Errorf("%d evaluations made and %d counted of %d", g.made.Load(), res.Evaluations, evaluations)
			}
			for _, c := range res.Arms[0].Generations {
				for _, c := range c.Children {
					if c.HasProgram() && !c.Scored() {
						t.Errorf("%d evaluations: child %d was paid for and not scored: %s", evaluations, c.ID, c.Err)
					}
				}
			}
			if s := res.Best.Result.Samples; evaluations > 40 && (s == nil || math.Abs(mean(s.Scores)-res.Best.Result.Score) > 1e-9) {
				t.Errorf("the best has %+v", res.Best.Result)
			}
		}
	}
}

// A run that is paused in its races goes on with the samples that it has, and one that is read again takes none.
func TestRaceIsResumed(t *testing.T) {
	for _, window := range []int{0, 3} {
		path := filepath.Join(t.TempDir(), "run.journal")
		run := func(gone int64) (*evolve.Result, int64) {
			g := &gauge{sd: 1, seed: 9, gone: gone}
			j, err := journal.Open(path, journal.Config{Resume: true})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			res, err := evolve.Run(t.Context(), evolve.Config{Journal: j, Budget: evolve.Budget{Calls: 48}, Arms: []evolve.Arm{racing(t, g, 8, window, 0.5)}})
			if (err != nil) != (gone > 0) {
				t.Fatal(err)
			}
			return res, g.made.Load()
		}
		run(30) // in the first races
		second, _ := run(0)
		again, made := run(0)
		if second.Evaluations < 60 || made != 0 {
			t.Errorf("window %d: %d evaluations, and %d when read again", window, second.Evaluations, made)
		}
		if diff := cmp.Diff(second, again, cmpopts.IgnoreTypes(time.Duration(0))); diff != "" {
			t.Errorf("window %d: read again: %s", window, diff)
		}
	}
}

// A best that is taken back does not lead again by its races.
func TestRaceAfterDemote(t *testing.T) {
	g := racing(t, &gauge{seed: 1}, 8, 0, 1)
	mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 1}})
	if v, _ := strconv.ParseFloat(strings.TrimSpace(g.Best().Program), 64); v != 1 {
		t.Fatalf("the best is %q", g.Best().Program)
	}
	g.Demote()
	if g.Best().Program != "0" {
		t.Errorf("demoted, the best is %q", g.Best().Program)
	}
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Rounds: 1}})
	if before := res.Arms[0].Generations[0].Before.Program; before != "0" {
		t.Errorf("the next step begins with %q", before)
	}
}

func TestRaceFieldsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		cfg  evolve.GreedyConfig
		want string
	}{
		{evolve.GreedyConfig{Race: 0.9}, "Race is 0.9"},
		{evolve.GreedyConfig{Noisy: true, Race: 1}, "Race is 1"},
		{evolve.GreedyConfig{Noisy: true, Race: 0.4}, "Race is 0.4"},
		{evolve.GreedyConfig{Noisy: true, Race: math.NaN()}, "Race is NaN"},
		{evolve.GreedyConfig{Noisy: true, Race: 0.9, Rescore: 0.25}, "Rescore 0.25"},
		{evolve.GreedyConfig{Noisy: true, Race: 0.9, Neutral: true}, "Neutral true"},
		{evolve.GreedyConfig{Noisy: true, RaceSamples: 3}, "RaceSamples is 3"},
		{evolve.GreedyConfig{Noisy: true, Race: 0.9, RaceSamples: 65}, "RaceSamples is 65"},
	} {
		tt.cfg.Task, tt.cfg.LLM = gauged(t, &gauge{}), wander
		if _, err := evolve.NewGreedy(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}
