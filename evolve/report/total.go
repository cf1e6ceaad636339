package report

import (
	"cmp"
	"iter"
	"slices"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// A total is what a run cost over all its incarnations: every call of the result, and those of
// [evolve.Result.Earlier]. It is apart from the rest of the file, so that but for it and for times, the file of a
// run that was stopped or killed and resumed is that of an undisturbed run.
type total struct {
	// Lost calls were under way when an incarnation was killed. They may have been paid for. So each counts as
	// one canceled attempt without usage, which the worst case charges with the cap on new tokens.
	Lost int `json:"lost_calls"`
	// Aborted calls were abandoned (Ctrl-C, the endpoint gone, a kill before a retry) and made again.
	Aborted int `json:"aborted_calls"`
	// Unclaimed calls were answered before a kill, and the search did not ask for them again.
	Unclaimed int  `json:"unclaimed_calls,omitempty"`
	FLOPs     Cost `json:"flops"`
	Counts
}

// unknownEndpoint stands in [Counts] for the endpoints of lost calls that name none.
const unknownEndpoint = "unknown"

// newTotal returns nil if the result holds every call of the run.
func newTotal(r *evolve.Result, m llm.Model) *total {
	e := r.Earlier
	if len(e.Lost)+len(e.Abandoned)+len(e.Unclaimed) == 0 {
		return nil
	}
	calls := paid(r, m.MaxTokens)
	return &total{
		Lost: len(e.Lost), Aborted: len(e.Abandoned), Unclaimed: len(e.Unclaimed),
		FLOPs: newCost(attempts(calls), m.ActiveParams), Counts: Count(calls),
	}
}

// paid yields the calls of a run, also those of its earlier incarnations. A lost call has one attempt, with maxTokens if it
// has no cap of its own.
func paid(r *evolve.Result, maxTokens int) iter.Seq[[]llm.Attempt] {
	var lost [][]llm.Attempt
	for _, a := range r.Earlier.Lost {
		a.MaxTokens, a.Endpoint = cmp.Or(a.MaxTokens, maxTokens), cmp.Or(a.Endpoint, unknownEndpoint)
		lost = append(lost, []llm.Attempt{a})
	}
	return chain(r.EachCall, slices.Values(slices.Concat(r.Earlier.Abandoned, r.Earlier.Unclaimed, lost)))
}

// chain yields what each of seqs does.
func chain[T any](seqs ...iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, seq := range seqs {
			for v := range seq {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// attempts yields every attempt of calls.
func attempts(calls iter.Seq[[]llm.Attempt]) iter.Seq[llm.Attempt] {
	return func(yield func(llm.Attempt) bool) {
		for call := range calls {
			for _, a := range call {
				if !yield(a) {
					return
				}
			}
		}
	}
}
