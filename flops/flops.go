// Package flops computes what calls to a language model cost in floating-point operations, however they
// ended.
//
// One pass over one token costs about two operations for each parameter that works on it, so an
// attempt of a model with P active parameters costs
//
//	2 · P · (prompt − cached + completion)   FLOPs
//
// where prompt tokens served from a prefix cache are not computed again. Every retry is an attempt of its own.
// An attempt that timed out usually comes without usage although the server worked on it. A [Rule] says what it
// is charged then. An attempt that was never sent is charged nothing. This is the accounting of BaSE
// (arXiv 2605.29268).
package flops

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/evoalloc/evoalloc/llm"
)

// A Rule says what an attempt without usage is charged.
type Rule string

// The rules. The first three charge nothing for an attempt that ended well or in an error but without
// usage, as in the paper: only for one that timed out, stalled or was canceled.
const (
	// WorstCase counts the cap on new tokens that was in force as if all of it was generated.
	// It is the default.
	WorstCase Rule = "worst_case"
	// Exclude charges nothing.
	Exclude Rule = "exclude"
	// Bounded counts the median number of completion tokens among the run's attempts that ended
	// for length; nothing if there are none. The median of an even count is the mean of the
	// middle two, truncated to an integer.
	Bounded Rule = "bounded"
	// Observed counts the tokens that were seen streamed before the attempt ended, however it
	// ended, and nothing more.
	Observed Rule = "observed"
)

// Rules returns all rules, in the order of results.
func Rules() []Rule { return []Rule{WorstCase, Exclude, Bounded, Observed} }

// Attempt returns the FLOPs of a by its own usage, and whether it has one: an attempt that ended
// well without usage, or in an error, timeout or cancellation without usage, is not metered and
// costs 0 here. A nonzero a.ActiveParams takes the place of active, the parameters that work on one
// token. Counts of the server that cannot be true count as far as they can ([llm.Usage.Clean]), so the
// result is never negative.
func Attempt(a llm.Attempt, active int64) (flops float64, metered bool) {
	if a.Usage == nil {
		return 0, false
	}
	u := a.Usage.Clean()
	return perToken(a, active) * float64(u.PromptTokens-u.CachedTokens+u.CompletionTokens), true
}

// perToken returns the FLOPs of one token under the model that a asked.
func perToken(a llm.Attempt, active int64) float64 {
	return 2 * float64(cmp.Or(a.ActiveParams, active))
}

// A Summary is what a number of attempts cost under one rule. Its JSON names are the paper's.
type Summary struct {
	TotalFLOPs float64 `json:"total_flops"`          // by usage, and by the rule for attempts without
	OK         int     `json:"n_ok"`                 // attempts that ended well and came with usage
	Timeout    int     `json:"n_timeout"`            // attempts that timed out or stalled
	Error      int     `json:"n_error"`              // attempts that ended in an error
	Canceled   int     `json:"n_canceled,omitempty"` // attempts of abandoned calls
	// TimeoutFLOPs is the part of TotalFLOPs that the rule charged to attempts without usage.
	TimeoutFLOPs float64 `json:"timeout_flops"`
	Rule         Rule    `json:"timeout_policy"`
	// Tokens are those of attempts with usage. CachedTokens are among PromptTokens.
	PromptTokens     int     `json:"sum_prompt_tokens"`
	CompletionTokens int     `json:"sum_completion_tokens"`
	CachedTokens     int     `json:"sum_cached_prompt_tokens"`
	CacheHitRate     float64 `json:"prefix_cache_hit_rate"` // CachedTokens / PromptTokens; 0 if there are none
}

// Sum charges attempts under rule; active is the parameters that work on one token, for attempts
// that name no model of their own. Attempts is ranged over twice under [Bounded], once to learn the
// median, so pass all of a run's attempts to have the run's. It panics if rule is none of [Rules].
func Sum(attempts iter.Seq[llm.Attempt], active int64, rule Rule) Summary {
	return sumWith(attempts, active, rule, medianLength(attempts))
}

// sumWith is [Sum] with the median that [Bounded] charges given, in tokens, so that a part of a run (one
// generation) is charged by the whole run's.
func sumWith(attempts iter.Seq[llm.Attempt], active int64, rule Rule, median int) Summary {
	if !slices.Contains(Rules(), rule) {
		panic(fmt.Sprintf("flops: unknown rule %q: it is one of %v", rule, Rules()))
	}
	s := Summary{Rule: rule}
	for a := range attempts {
		s.add(a, active, median)
	}
	if s.PromptTokens > 0 {
		s.CacheHitRate = float64(s.CachedTokens) / float64(s.PromptTokens)
	}
	return s
}

// Charge returns what the rule charges one attempt, in FLOPs: a's part of the TotalFLOPs of a [Summary]. median is as
// in [sumWith].
func (r Rule) Charge(a llm.Attempt, active int64, median int) float64 {
	if flops, metered := Attempt(a, active); metered {
		return flops
	}
	return perToken(a, active) * float64(r.output(a, median))
}

// add charges one attempt.
func (s *Summary) add(a llm.Attempt, active int64, median int) {
	metered := a.Usage != nil
	switch a.Status {
	case llm.OK:
		if !metered { // as in the paper: no usage, no cost and no count
			break
		}
		s.OK++
	case llm.Timeout, llm.Stalled:
		s.Timeout++
	case llm.Canceled:
		s.Canceled++
	default:
		s.Error++
	}
	charge := s.Rule.Charge(a, active, median)
	s.TotalFLOPs += charge
	if metered {
		u := a.Usage.Clean()
		s.PromptTokens += u.PromptTokens
		s.CachedTokens += u.CachedTokens
		s.CompletionTokens += u.CompletionTokens
		return
	}
	s.TimeoutFLOPs += charge
}

// output returns the completion tokens that the rule charges an attempt without usage.
func (r Rule) output(a llm.Attempt, median int) int {
	switch {
	case a.Unsent: // nobody worked on it
		return 0
	case r == Observed:
		return max(a.Streamed, 0)
	}
	switch a.Status {
	case llm.Timeout, llm.Stalled, llm.Canceled:
	default: // ended well, or in an error: the paper charges neither
		return 0
	}
	switch r {
	case WorstCase:
		return max(a.MaxTokens, 0)
	case Bounded:
		return median
	}
	return 0
}

// medianLength returns the median completion tokens of the attempts with usage that ended because
// they reached the cap on length, truncated to an integer; 0 if there are none.
func medianLength(attempts iter.Seq[llm.Attempt]) int {
	var n []int
	for a := range attempts {
		if a.Status == llm.OK && a.FinishReason == "length" && a.Usage != nil {
			n = append(n, a.Usage.Clean().CompletionTokens)
		}
	}
	if len(n) == 0 {
		return 0
	}
	slices.Sort(n)
	mid := len(n) / 2
	if len(n)%2 == 1 {
		return n[mid]
	}
	return (n[mid-1] + n[mid]) / 2
}
