package evolve

import (
	"fmt"
	"iter"
	"slices"

	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// A Header is what results say of the run that a [Result] does not know.
type Header struct {
	Task  string    // task.Task.Name
	Model llm.Model // what calls are charged as
	T, N  int       // the budget is T·N calls, N to a generation
}

// An AttemptRow is an [llm.Attempt] under the paper's names; docs/results.md describes the fields.
type AttemptRow struct {
	Index        int       `json:"attempt_idx"`
	Status       string    `json:"status"`    // ok, timeout, stalled, canceled or error:KIND
	Latency      float64   `json:"latency_s"` // in seconds
	Usage        *UsageRow `json:"usage"`     // null if the server sent none
	FinishReason *string   `json:"finish_reason"`
	TimedOut     bool      `json:"timed_out"` // not for stalled ones
	// EstimatedOutput is the cap on new tokens in force, on a timeout, for the worst case; 0 if Unsent.
	EstimatedOutput *int   `json:"estimated_output_tokens,omitempty"`
	Unsent          bool   `json:"unsent,omitempty"` // it never went out, and costs nothing
	Error           string `json:"error,omitempty"`
	Streamed        int    `json:"streamed_tokens,omitempty"`
	Model           string `json:"model,omitempty"`
	Endpoint        string `json:"endpoint,omitempty"`
	// Propensity is the chance with which an ensemble chose Model.
	Propensity float64 `json:"propensity,omitempty"`
}

// A UsageRow is usage in the form of the endpoints, in tokens. Cached tokens are among those of the prompt.
type UsageRow struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// A ChildRow is a [Child] under the paper's names. Fitness is null without a program, and 0 for an
// invalid one.
type ChildRow struct {
	Index       int          `json:"idx"`
	Seed        uint32       `json:"seed"`
	Fitness     *float64     `json:"fitness"`
	Valid       bool         `json:"valid"`
	Reason      string       `json:"reason,omitempty"` // why there is no program, or no score
	Attempts    []AttemptRow `json:"attempts"`
	FinalStatus string       `json:"final_status"`        // the last attempt's; "" without attempts
	Duplicate   bool         `json:"duplicate,omitempty"` // the program stood before in the run
}

// A GenerationRow is one row of a trajectory. Row 0 is the initial program, without parent. A fitness is a
// score, 0 for a program that is invalid.
type GenerationRow struct {
	Generation    int        `json:"generation"`
	BestFitness   float64    `json:"best_fitness"`
	ParentFitness *float64   `json:"parent_fitness,omitempty"`
	Count         int        `json:"n_children"`
	Valid         int        `json:"n_valid"`    // children that are; in row 0 whether the initial program is
	Improved      int        `json:"n_improved"` // children strictly better than the parent
	Children      []ChildRow `json:"children"`
	Seconds       float64    `json:"gen_time_s"`        // how long it took
	Partial       bool       `json:"partial,omitempty"` // cut short
	Reason        string     `json:"reason,omitempty"`  // in row 0: why the initial program has no score
}

// An ArmReport is what results say of one search.
type ArmReport struct {
	Seed         int64              `json:"seed"`
	FinalFitness float64            `json:"final_fitness"` // of the best program
	FinalMetrics map[string]float64 `json:"final_metrics"` // of the same
	Trajectory   []GenerationRow    `json:"trajectory"`    // by generation, from 0
	FLOPs        FLOPsReport        `json:"flops"`
	PerGen       []float64          `json:"flops_per_generation"` // by generation from 1, in the worst case
	ClassReport
}

// A FLOPsReport is what attempts cost under each rule.
type FLOPsReport struct {
	Active    int64         `json:"params_active"` // of the model, for attempts that name none of their own
	WorstCase flops.Summary `json:"worst_case"`
	Exclude   flops.Summary `json:"exclude"`
	Bounded   flops.Summary `json:"bounded"`
	Observed  flops.Summary `json:"observed"`
}

// Summaries returns the report's summaries, in the order of [flops.Rules].
func (f FLOPsReport) Summaries() []flops.Summary {
	return []flops.Summary{f.WorstCase, f.Exclude, f.Bounded, f.Observed}
}

// newFLOPsReport charges attempts under each rule.
func newFLOPsReport(attempts iter.Seq[llm.Attempt], active int64) FLOPsReport {
	return FLOPsReport{
		Active:    active,
		WorstCase: flops.Sum(attempts, active, flops.WorstCase),
		Exclude:   flops.Sum(attempts, active, flops.Exclude),
		Bounded:   flops.Sum(attempts, active, flops.Bounded),
		Observed:  flops.Sum(attempts, active, flops.Observed),
	}
}

// newArmReport tells one arm in the paper's names.
func newArmReport(arm ArmResult, seed int64, active int64) ArmReport {
	r := ArmReport{
		Seed:         seed,
		FinalFitness: arm.Best.Result.Score,
		FinalMetrics: arm.Best.Result.Metrics,
		Trajectory:   []GenerationRow{startRow(arm)},
		FLOPs:        newFLOPsReport(arm.Attempts, active),
		PerGen:       []float64{},
		ClassReport:  newClassReport(slices.Values(arm.Generations)),
	}
	if r.FinalMetrics == nil {
		r.FinalMetrics = map[string]float64{}
	}
	for _, g := range arm.Generations {
		r.Trajectory = append(r.Trajectory, newGenerationRow(g))
		r.PerGen = append(r.PerGen, worstCase(g, active))
	}
	return r
}

// worstCase returns the FLOPs of a generation, timeouts charged in full.
func worstCase(g Generation, active int64) float64 {
	return flops.Sum(g.Attempts, active, flops.WorstCase).TotalFLOPs
}

func startRow(arm ArmResult) GenerationRow {
	row := GenerationRow{BestFitness: arm.Start.Result.Score, Children: []ChildRow{}}
	if arm.Start.Result.Valid {
		row.Valid = 1
	} else {
		row.Reason = arm.Start.Result.Reason
	}
	return row
}

func newGenerationRow(g Generation) GenerationRow {
	parent := g.Parent.Result.Score
	row := GenerationRow{
		Generation:    g.Index,
		BestFitness:   g.Best.Result.Score,
		ParentFitness: &parent,
		Count:         len(g.Children),
		Children:      make([]ChildRow, len(g.Children)),
		Seconds:       g.Elapsed.Seconds(),
		Partial:       g.Partial,
	}
	for i, c := range g.Children {
		row.Children[i] = newChildRow(c)
		if c.scored() && c.Result.Valid {
			row.Valid++
		}
		if c.scored() && c.Better(g.Parent) {
			row.Improved++
		}
	}
	return row
}

func newChildRow(c Child) ChildRow {
	row := ChildRow{Index: c.Index, Seed: c.Seed, Valid: c.Result.Valid, Reason: c.Err, Duplicate: c.Duplicate,
		Attempts: make([]AttemptRow, len(c.Attempts))}
	if c.scored() {
		row.Fitness, row.Reason = &c.Result.Score, c.Result.Reason
	}
	for i, a := range c.Attempts {
		row.Attempts[i] = newAttemptRow(i, a)
		row.FinalStatus = row.Attempts[i].Status
	}
	return row
}

func newAttemptRow(i int, a llm.Attempt) AttemptRow {
	row := AttemptRow{
		Index: i, Status: string(a.Status), Latency: a.Latency.Seconds(), TimedOut: a.Status == llm.Timeout, Unsent: a.Unsent,
		Error: a.Err, Streamed: a.Streamed, Model: a.Model, Endpoint: a.Endpoint, Propensity: a.Propensity,
	}
	if a.Status == llm.Failed {
		row.Status = fmt.Sprintf("error:%s", a.Kind)
	}
	if a.FinishReason != "" {
		row.FinishReason = &a.FinishReason
	}
	if row.TimedOut || a.Status == llm.Stalled {
		row.EstimatedOutput = &a.MaxTokens
		if a.Unsent {
			row.EstimatedOutput = new(int)
		}
	}
	if u := a.Usage; u != nil {
		row.Usage = &UsageRow{Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.PromptTokens + u.CompletionTokens}
		row.Usage.Details.Cached = u.CachedTokens
	}
	return row
}
