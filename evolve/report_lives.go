package evolve

import (
	"iter"

	"github.com/evoalloc/evoalloc/llm"
)

// A LivesReport is what a run cost over all its lives: every call of the result, and those that earlier
// lives paid for beside ([Result.Earlier]). It is all in which the result of a run that was stopped or
// killed and went on differs from that of one that never was.
type LivesReport struct {
	// Lost calls were under way when a life was killed. They may have been paid for: each counts as one
	// canceled attempt without usage, which the worst case charges with the cap on new tokens.
	Lost int `json:"lost_calls"`
	// Aborted calls were given up (Ctrl-C, the endpoint gone) and made again.
	Aborted int         `json:"aborted_calls"`
	FLOPs   FLOPsReport `json:"flops"`
	ClassReport
}

// newLivesReport tells all lives of a run of m, nil if nothing was paid for beside the result.
func newLivesReport(r *Result, m llm.Model) *LivesReport {
	if len(r.Earlier.Lost)+len(r.Earlier.Aborted) == 0 {
		return nil
	}
	calls := r.everyCall(m.WithDefaults().MaxTokens)
	attempts := func(yield func(llm.Attempt) bool) {
		for call := range calls {
			for _, a := range call {
				if !yield(a) {
					return
				}
			}
		}
	}
	return &LivesReport{
		Lost: len(r.Earlier.Lost), Aborted: len(r.Earlier.Aborted),
		FLOPs: newFLOPsReport(attempts, m.ActiveParams), ClassReport: classify(calls),
	}
}

// everyCall calls yield for the attempts of every call of the result and of what was paid for beside.
func (r *Result) everyCall(maxTokens int) iter.Seq[[]llm.Attempt] {
	return func(yield func([]llm.Attempt) bool) {
		for g := range r.generations {
			for _, c := range g.Children {
				if !yield(c.Attempts) {
					return
				}
			}
		}
		for attempts := range r.Earlier.calls(maxTokens) {
			if !yield(attempts) {
				return
			}
		}
	}
}
