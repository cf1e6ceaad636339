package report

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// An Attempt is an [llm.Attempt] under the paper's names; docs/results.md describes the fields.
type Attempt struct {
	Index        int     `json:"attempt_idx"`
	Status       string  `json:"status"`    // ok, timeout, stalled, canceled or error:KIND
	Latency      float64 `json:"latency_s"` // in seconds
	Usage        *Usage  `json:"usage"`     // null if the server sent none
	FinishReason *string `json:"finish_reason"`
	TimedOut     bool    `json:"timed_out"` // not for stalled ones
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

// A Usage is usage in the form of the endpoints, in tokens. Cached tokens are among those of the prompt.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// A Child is a [Child] under the paper's names. Fitness is null without a program, and 0 for an
// invalid one.
type Child struct {
	Index       int       `json:"idx"`
	Seed        uint32    `json:"seed"`
	Fitness     *float64  `json:"fitness"`
	Valid       bool      `json:"valid"`
	Reason      string    `json:"reason,omitempty"` // why there is no program, or no score
	Attempts    []Attempt `json:"attempts"`
	FinalStatus string    `json:"final_status"`        // the last attempt's; "" without attempts
	Duplicate   bool      `json:"duplicate,omitempty"` // the program stood before in the run
}

// A Generation is one row of a trajectory. Row 0 is the initial program, without parent. A fitness is a
// score, 0 for a program that is invalid.
type Generation struct {
	Generation    int      `json:"generation"`
	BestFitness   float64  `json:"best_fitness"`
	ParentFitness *float64 `json:"parent_fitness,omitempty"`
	Count         int      `json:"n_children"`
	Valid         int      `json:"n_valid"`    // children that are; in row 0 whether the initial program is
	Improved      int      `json:"n_improved"` // children strictly better than the parent
	Children      []Child  `json:"children"`
	Seconds       float64  `json:"gen_time_s"`        // how long it took
	Partial       bool     `json:"partial,omitempty"` // cut short
	Reason        string   `json:"reason,omitempty"`  // in row 0: why the initial program has no score
}

func newGeneration(g evolve.Generation) Generation {
	parent := g.Parent.Result.Score
	row := Generation{
		Generation:    g.Index,
		BestFitness:   g.Best.Result.Score,
		ParentFitness: &parent,
		Count:         len(g.Children),
		Children:      make([]Child, len(g.Children)),
		Seconds:       g.Elapsed.Seconds(),
		Partial:       g.Partial,
	}
	for i, c := range g.Children {
		row.Children[i] = newChild(c)
		if c.Scored() && c.Result.Valid {
			row.Valid++
		}
		if c.Scored() && c.Better(g.Parent) {
			row.Improved++
		}
	}
	return row
}

func newChild(c evolve.Child) Child {
	row := Child{Index: c.Index, Seed: c.Seed, Valid: c.Result.Valid, Reason: c.Err, Duplicate: c.Duplicate,
		Attempts: make([]Attempt, len(c.Attempts))}
	if c.Scored() {
		row.Fitness, row.Reason = &c.Result.Score, c.Result.Reason
	}
	for i, a := range c.Attempts {
		row.Attempts[i] = newAttempt(i, a)
		row.FinalStatus = row.Attempts[i].Status
	}
	return row
}

func newAttempt(i int, a llm.Attempt) Attempt {
	row := Attempt{
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
		row.Usage = &Usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.PromptTokens + u.CompletionTokens}
		row.Usage.Details.Cached = u.CachedTokens
	}
	return row
}
