package report_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
)

// The lists by round agree with the rows of the arms.
func TestBanditAddsUp(t *testing.T) {
	r := report.NewBandit(reported())
	pulls := make([]int, r.Arms)
	next := make([]int, r.Arms)
	best := *r.ArmResults[0].Trajectory[0].BestFitness
	var total float64
	for i, arm := range r.Selections {
		gen := next[arm]
		next[arm]++
		pulls[arm]++
		total += r.PerRound[i]
		best = max(best, r.Rewards[i])
		if r.PerRound[i] != r.ArmResults[arm].PerGen[gen] || r.Cumulative[i] != total {
			t.Errorf("round %d costs %v of %v, cumulative %v of %v", i, r.PerRound[i], r.ArmResults[arm].PerGen[gen],
				r.Cumulative[i], total)
		}
		if r.Rewards[i] != *r.ArmResults[arm].Trajectory[gen+1].BestFitness || r.RunningBest[i] != best {
			t.Errorf("round %d: reward %v, running best %v, want %v", i, r.Rewards[i], r.RunningBest[i], best)
		}
	}
	if len(r.Selections) != 4 || !slices.Equal(pulls, r.ArmPulls) {
		t.Errorf("%d rounds, pulls %v of %v", len(r.Selections), r.ArmPulls, pulls)
	}
	if total == 0 || total != r.TotalWorstCase || total != r.FLOPs.WorstCase.TotalFLOPs {
		t.Errorf("FLOPs %v and %v, want %v", r.TotalWorstCase, r.FLOPs.WorstCase.TotalFLOPs, total)
	}
	if r.FinalFitness != slices.Max(r.ArmFitness) || r.ArmSeeds[slices.Index(r.ArmFitness,
		r.FinalFitness)] != r.BestArmSeed {
		t.Errorf("final fitness %v of %v, best arm's seed %d", r.FinalFitness, r.ArmFitness, r.BestArmSeed)
	}
}

// What was asked before the first round is in the total, and in the sums by round from the first on.
func TestBanditAddsUpWithWhatCameBeforeItsRounds(t *testing.T) {
	result, header := reported()
	used := []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 10, CompletionTokens: 5}}}
	result.Arms[1].Asides = []evolve.Call{{Kind: "evaluation", Attempts: used}}
	r := report.NewBandit(result, header)
	before := 2 * 15 * float64(r.Active)
	if r.TotalWorstCase != r.FLOPs.WorstCase.TotalFLOPs || r.Cumulative[0] != r.PerRound[0]+before || before == 0 {
		t.Errorf("the total is %v of %v, and %v after a first round of %v, want %v more", r.TotalWorstCase,
			r.FLOPs.WorstCase.TotalFLOPs, r.Cumulative[0], r.PerRound[0], before)
	}
}

// The rows say how many calls each step was granted, and the file of a run with a breadth is not that of a run
// without one.
func TestBreadthOfAResult(t *testing.T) {
	for _, tt := range []struct {
		reason, tag, says string
		b                 evolve.Breadth
	}{
		{"none is the paper's form", "", "", nil},
		{"a breadth is named", "_adaptive", "Adaptive(second=0, waste=0.15, 1..8, kept)", breadth.Adaptive{Max: 8}},
		{"a func has the name of its type", "_breadthfunc", "evolve.BreadthFunc",
			evolve.BreadthFunc(func([]evolve.Made) int { return 5 })},
		{"a name is no path", "_up9", "../Up 9/()", named{"../Up 9/()"}},
		{"a name without a letter", "_breadth", "Ω", named{"Ω"}},
	} {
		arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: sum(), LLM: metered, N: 8, Seed: 40, Breadth: tt.b}, 2)
		if err != nil {
			t.Fatal(err)
		}
		result, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{},
			Budget: evolve.Budget{Calls: 16}})
		if err != nil {
			t.Fatal(err)
		}
		h := report.BanditHeader{Header: report.Header{Task: "sum", Model: tiny, T: 2, N: 8, Breadth: tt.b}, Algo: "ucb",
			ArmSeeds: []uint32{40, 41}}
		r := report.NewBandit(result, h)
		if want := filepath.FromSlash("bandit/sum/tiny/ucb_C16_T2_K2" + tt.tag + "_seed0.json"); h.Path() != want ||
			r.Path() != want {
			t.Errorf("%s: paths %s and %s, want %s", tt.reason, h.Path(), r.Path(), want)
		}
		if want := filepath.FromSlash("sum/tiny/greedy_C16_T2_N8" + tt.tag + "_seed40.json"); h.GreedyPath(40) != want {
			t.Errorf("%s: path %s, want %s", tt.reason, h.GreedyPath(40), want)
		}
		granted, next := 0, make([]int, 2)
		for i, arm := range r.Selections {
			next[arm]++
			if row := r.ArmResults[arm].Trajectory[next[arm]]; row.Width != r.Granted[i] || row.Width == 0 ||
				*row.Count != row.Width {
				t.Errorf("%s: round %d was granted %d calls, its row says %d and has %d children", tt.reason, i, r.Granted[i],
					row.Width, *row.Count)
			}
			granted += r.Granted[i]
		}
		if c := r.ArmResults[0].C + r.ArmResults[1].C; granted != 16 || c != 16 || r.C != 16 || r.Breadth != tt.says ||
			r.ArmResults[0].Breadth != tt.says {
			t.Errorf("%s: %d calls granted, C is %d, and %d in the arms; breadth %q, want %q", tt.reason, granted, r.C, c,
				r.Breadth, tt.says)
		}
	}
}

// Searches of other kinds than greedy are named in the files, in their rows and in their names.
func TestKinds(t *testing.T) {
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: sum(), LLM: metered, N: 8, Seed: 40}, 2)
	if err != nil {
		t.Fatal(err)
	}
	result, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Calls: 16}})
	if err != nil {
		t.Fatal(err)
	}
	h := report.BanditHeader{Header: report.Header{Task: "sum", Model: tiny, T: 2, N: 8}, Algo: "ucb",
		ArmSeeds: []uint32{40, 41}, Kinds: []string{"shinka", "gepa"}}
	r := report.NewBandit(result, h)
	if want := filepath.FromSlash("portfolio/sum/tiny/ucb_C16_T2_K2_seed0.json"); h.Path() != want || r.Path() != want {
		t.Errorf("paths %s and %s, want %s", h.Path(), r.Path(), want)
	}
	if r.ArmResults[0].Kind != "shinka" || r.ArmResults[1].Kind != "gepa" || !slices.Equal(r.Kinds, h.Kinds) {
		t.Errorf("the arms are %v, %q and %q", r.Kinds, r.ArmResults[0].Kind, r.ArmResults[1].Kind)
	}
	result.Arms = result.Arms[:1]
	h.Kind = "shinka"
	one := report.NewGreedy(result, h.Header, 40)
	if want := filepath.FromSlash("sum/tiny/shinka_C16_T2_N8_seed40.json"); h.GreedyPath(40) != want ||
		one.Path() != want || one.Kind != "shinka" {
		t.Errorf("paths %s and %s of %q, want %s", h.GreedyPath(40), one.Path(), one.Kind, want)
	}
}

// named is a Breadth that prints as it is told.
type named struct{ name string }

func (named) Children([]evolve.Made) int { return 2 }
func (n named) String() string           { return n.name }

// Where the initial program is invalid, row 0 says why, in the files of one search and of many.
func TestRowZeroSaysWhyTheInitialProgramIsInvalid(t *testing.T) {
	for _, start := range []eval.Result{{Valid: true, Score: 5}, eval.Invalid("not a number")} {
		res := &evolve.Result{Arms: []evolve.ArmResult{{
			Start:       eval.Candidate{Program: "five", Result: start},
			Generations: []evolve.Generation{{Index: 1}},
		}}}
		one := report.NewGreedy(res, report.Header{Model: tiny, T: 1, N: 2}, 2).Search
		many := report.NewBandit(res, report.BanditHeader{ArmSeeds: []uint32{2}}).ArmResults[0].Search
		for _, arm := range []result.Search{one, many} {
			row := arm.Trajectory[0]
			if row.Reason != start.Reason || (row.Valid == 1) != start.Valid || arm.Trajectory[1].Reason != "" {
				t.Errorf("initial program %+v: row 0 has reason %q and %d valid, row 1 %q", start, row.Reason, row.Valid,
					arm.Trajectory[1].Reason)
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

func written(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	if err := result.Write(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
