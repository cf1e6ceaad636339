package sweep

import (
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/llm"
)

// A row is one generation of a run, and the run's sums by then. Row 0 is the initial program. In a run with several
// searches a generation is a round, in the order of draws.
type row struct {
	Generation int     `json:"generation"`
	Arm        int     `json:"arm"`      // that made it; 0 in row 0
	Children   int     `json:"children"` // of the generation
	Valid      int     `json:"valid"`    // of them; in row 0: 1 if the initial program is
	Score      float64 `json:"score"`    // the best of the generation's arm when it ended, 0 if it has none that is valid
	Best       float64 `json:"best"`     // the best of the run when it ended, 0 if it has none that is valid

	// The fields below are sums since the run began.

	Calls       int     `json:"calls"`       // answered
	Attempts    int     `json:"attempts"`    // at calls, however they ended
	Evaluations int     `json:"evaluations"` // made, without those whose result was remembered
	Prompt      int     `json:"prompt_tokens"`
	Cached      int     `json:"cached_tokens"` // of the prompt's
	Completion  int     `json:"completion_tokens"`
	FLOPs       float64 `json:"flops"`   // in the worst case
	Cost        float64 `json:"cost"`    // money; without usage, the streamed tokens count
	Seconds     float64 `json:"seconds"` // that generations took
	Partial     bool    `json:"partial,omitempty"`
}

// rows returns the rows of a run.
func rows(r *evolve.Result, m llm.Model) []row {
	list := make([]row, 1, len(r.Rounds)+1)
	sum := &list[0]
	for i, arm := range r.Arms {
		if arm.Start.Result.Valid {
			sum.Valid = 1
		}
		if s := arm.Start.Result; s.Valid && (i == 0 || s.Score > sum.Best) {
			sum.Score, sum.Best = s.Score, s.Score
		}
		for _, c := range arm.Asides {
			sum.add(c.Attempts, m)
		}
	}
	for i, round := range r.Rounds {
		g := r.Arms[round.Pull.Arm].Generations[round.Generation]
		next := list[i]
		next.Generation, next.Arm, next.Partial = i+1, round.Pull.Arm, g.Partial
		next.Children, next.Valid = len(g.Children), 0
		next.Score, next.Best = g.Best.Result.Score, round.Best
		for _, c := range g.Children {
			if c.Result.Valid {
				next.Valid++
			}
		}
		for attempts := range g.EachCall {
			next.add(attempts, m)
		}
		next.Evaluations += g.Evaluations
		next.Seconds += g.Elapsed.Seconds()
		list = append(list, next)
	}
	return list
}

// add adds a call.
func (r *row) add(attempts []llm.Attempt, m llm.Model) {
	cost := history.Prices{m}.Call(attempts)
	r.Attempts += len(attempts)
	r.Calls += cost.Calls
	r.Prompt += cost.Tokens.Prompt
	r.Cached += cost.Tokens.Cached
	r.Completion += cost.Tokens.Completion
	r.FLOPs += cost.FLOPs
	r.Cost += cost.Money
}
