package report

import (
	"iter"

	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// A Cost is what attempts cost under each rule. All rules are in every file, because which of them is right for an
// attempt that timed out is the reader's to choose, and cannot be computed later from a sum.
type Cost struct {
	Active    int64         `json:"params_active"` // of the model, for attempts that name none of their own
	WorstCase flops.Summary `json:"worst_case"`
	Exclude   flops.Summary `json:"exclude"`
	Bounded   flops.Summary `json:"bounded"`
	Observed  flops.Summary `json:"observed"`
}

// Summaries returns the report's summaries, in the order of [flops.Rules].
func (c Cost) Summaries() []flops.Summary {
	return []flops.Summary{c.WorstCase, c.Exclude, c.Bounded, c.Observed}
}

// newCost charges attempts under each rule.
func newCost(attempts iter.Seq[llm.Attempt], active int64) Cost {
	return Cost{
		Active:    active,
		WorstCase: flops.Sum(attempts, active, flops.WorstCase),
		Exclude:   flops.Sum(attempts, active, flops.Exclude),
		Bounded:   flops.Sum(attempts, active, flops.Bounded),
		Observed:  flops.Sum(attempts, active, flops.Observed),
	}
}
