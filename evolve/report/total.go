package report

import (
	"cmp"
	"iter"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// A Total is what a run cost over all its incarnations: every call of the result, and those of
// [evolve.Result.Earlier]. But for times, the file of a run that was stopped or killed and resumed differs
// from that of an undisturbed run in nothing else.
type Total struct {
	// Lost calls were under way when an incarnation was killed. They may have been paid for: each counts as one
	// canceled attempt without usage, which the worst case charges with the cap on new tokens.
	Lost int `json:"lost_calls"`
	// Aborted calls were abandoned (Ctrl-C, the endpoint gone) and made again.
	Aborted int  `json:"aborted_calls"`
	FLOPs   Cost `json:"flops"`
	Counts
}

// newTotal returns nil if the result holds every call of the run.
func newTotal(r *evolve.Result, m llm.Model) *Total {
	if len(r.Earlier.Lost)+len(r.Earlier.Aborted) == 0 {
		return nil
	}
	calls := everyCall(r, m.WithDefaults().MaxTokens)
	attempts := func(yield func(llm.Attempt) bool) {
		for call := range calls {
			for _, a := range call {
				if !yield(a) {
					return
				}
			}
		}
	}
	return &Total{
		Lost: len(r.Earlier.Lost), Aborted: len(r.Earlier.Aborted),
		FLOPs: newCost(attempts, m.ActiveParams), Counts: newCounts(calls),
	}
}

// everyCall yields the attempts of every call of the result, and of those in r.Earlier. Lost calls are taken
// to have had the cap on new tokens maxTokens unless they name their own.
func everyCall(r *evolve.Result, maxTokens int) iter.Seq[[]llm.Attempt] {
	return func(yield func([]llm.Attempt) bool) {
		for attempts := range r.EachCall {
			if !yield(attempts) {
				return
			}
		}
		for _, attempts := range r.Earlier.Aborted {
			if !yield(attempts) {
				return
			}
		}
		for _, a := range r.Earlier.Lost {
			a.MaxTokens = cmp.Or(a.MaxTokens, maxTokens)
			if !yield([]llm.Attempt{a}) {
				return
			}
		}
	}
}
