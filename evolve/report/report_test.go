package report_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
)

// The lists by round agree with the rows of the arms.
func TestBanditAddsUp(t *testing.T) {
	r := report.NewBandit(reported())
	pulls := make([]int, r.Arms)
	next := make([]int, r.Arms)
	best := r.ArmResults[0].Trajectory[0].BestFitness
	var total float64
	for i, arm := range r.Selections {
		gen := next[arm]
		next[arm]++
		pulls[arm]++
		total += r.PerRound[i]
		best = max(best, r.Rewards[i])
		if r.PerRound[i] != r.ArmResults[arm].PerGen[gen] || r.Cumulative[i] != total {
			t.Errorf("round %d costs %v of %v, cumulative %v of %v", i, r.PerRound[i], r.ArmResults[arm].PerGen[gen], r.Cumulative[i], total)
		}
		if r.Rewards[i] != r.ArmResults[arm].Trajectory[gen+1].BestFitness || r.RunningBest[i] != best {
			t.Errorf("round %d: reward %v, running best %v, want %v", i, r.Rewards[i], r.RunningBest[i], best)
		}
	}
	if len(r.Selections) != 4 || !slices.Equal(pulls, r.ArmPulls) {
		t.Errorf("%d rounds, pulls %v of %v", len(r.Selections), r.ArmPulls, pulls)
	}
	if total == 0 || total != r.TotalWorstCase || total != r.FLOPs.WorstCase.TotalFLOPs {
		t.Errorf("FLOPs %v and %v, want %v", r.TotalWorstCase, r.FLOPs.WorstCase.TotalFLOPs, total)
	}
	if r.FinalFitness != slices.Max(r.ArmFitness) || r.ArmSeeds[slices.Index(r.ArmFitness, r.FinalFitness)] != r.BestArmSeed {
		t.Errorf("final fitness %v of %v, best arm's seed %d", r.FinalFitness, r.ArmFitness, r.BestArmSeed)
	}
}

// Where the initial program is invalid, row 0 says why, in the files of one search and of many.
func TestRowZeroSaysWhyTheInitialProgramIsInvalid(t *testing.T) {
	for _, start := range []eval.Result{{Valid: true, Score: 5}, eval.Invalid("not a number")} {
		result := &evolve.Result{Arms: []evolve.ArmResult{{
			Start:       eval.Candidate{Program: "five", Result: start},
			Generations: []evolve.Generation{{Index: 1}},
		}}}
		one := report.NewGreedy(result, report.Header{Model: tiny, T: 1, N: 2}, 2).Search
		many := report.NewBandit(result, report.BanditHeader{ArmSeeds: []uint32{2}}).ArmResults[0].Search
		for _, arm := range []report.Search{one, many} {
			row := arm.Trajectory[0]
			if row.Reason != start.Reason || (row.Valid == 1) != start.Valid || arm.Trajectory[1].Reason != "" {
				t.Errorf("initial program %+v: row 0 has reason %q and %d valid, row 1 %q", start, row.Reason, row.Valid, arm.Trajectory[1].Reason)
			}
		}
	}
}

// The row of an arm has what the file of its search alone would have.
func TestArmRowsAreResultsOfTheirOwn(t *testing.T) {
	result, h := reported()
	data := written(t, report.NewBandit(result, h))
	var read struct {
		Arms []map[string]any `json:"arm_results"`
	}
	if err := json.Unmarshal([]byte(data), &read); err != nil {
		t.Fatal(err)
	}
	paper := []string{"task", "model", "model_name", "C", "T", "N", "seed", "final_fitness", "final_metrics", "trajectory",
		"wall_time_seconds", "flops", "flops_per_generation"}
	for i, arm := range read.Arms {
		for _, name := range paper {
			if _, found := arm[name]; !found {
				t.Errorf("arm %d has no %s", i, name)
			}
		}
		seconds := 0.0
		for _, g := range result.Arms[i].Generations {
			seconds += g.Elapsed.Seconds()
		}
		got := []any{arm["task"], arm["model"], arm["model_name"], arm["C"], arm["T"], arm["N"], arm["wall_time_seconds"]}
		want := []any{"sum", "tiny", "example/Tiny", 8.0, 2.0, 4.0, seconds}
		if seconds == 0 || !slices.Equal(got, want) {
			t.Errorf("arm %d has %v, want %v", i, got, want)
		}
	}
	if len(read.Arms) != 2 {
		t.Errorf("%d arms", len(read.Arms))
	}
}
