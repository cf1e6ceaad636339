package report

import (
	"iter"

	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/llm"
)

// Counts counts calls, attempts and tokens by [llm.Class]. Every attempt belongs to one class, and a call belongs
// to the class of its last attempt. So the classes add up to the whole, and nothing that was paid for is missing.
type Counts struct {
	Calls     map[llm.Class]int    `json:"calls"` // one a call, however many attempts
	Attempts  map[llm.Class]int    `json:"attempts_by_class"`
	Tokens    map[llm.Class]Tokens `json:"tokens"`
	StallRate float64              `json:"stall_rate"` // stalled attempts / attempts; 0 if there are none
	// Endpoints counts the attempts that name the endpoint which was asked, by its name or URL.
	Endpoints map[string]Endpoint `json:"endpoints,omitempty"`
}

// Tokens sums the tokens of attempts as far as they are known, from usage or from what was streamed.
type Tokens = history.Tokens

// An Endpoint counts the attempts at one endpoint, by class. Those that were canceled are the rest.
type Endpoint struct {
	Attempts  int     `json:"attempts"`
	Real      int     `json:"real"`
	Stalls    int     `json:"stalls"`
	Errors    int     `json:"errors"`
	StallRate float64 `json:"stall_rate"` // Stalls / Attempts
	// OverCap counts the attempts for which the endpoint reported more tokens than the request allows: more
	// new ones than its cap, or more in the prompt than it can have. [evolve.Budget] computes the most that a
	// call can cost from what the request allows. If OverCap is not 0, this endpoint may have made the run cost
	// more than its limits on tokens, FLOPs and money.
	OverCap int `json:"over_cap,omitempty"`
}

// Count counts calls, each given by its attempts, as [evolve.Result.EachCall] yields them.
func Count(calls iter.Seq[[]llm.Attempt]) Counts {
	t := history.Prices(nil).Tally(calls)
	c := Counts{Calls: t.Calls, Attempts: t.Attempts, Tokens: map[llm.Class]Tokens{}, Endpoints: map[string]Endpoint{}}
	total := 0
	for _, class := range llm.Classes() { // also those with 0, so that a reader need not know which may be missing
		c.Calls[class] += 0
		c.Attempts[class] += 0
		c.Tokens[class] = t.Classes[class].Tokens
		total += c.Attempts[class]
	}
	if total > 0 {
		c.StallRate = float64(c.Attempts[llm.Stall]) / float64(total)
	}
	for a := range attempts(calls) {
		if a.Endpoint != "" {
			c.Endpoints[a.Endpoint] = c.Endpoints[a.Endpoint].plus(a)
		}
	}
	return c
}

// plus returns e with a counted.
func (e Endpoint) plus(a llm.Attempt) Endpoint {
	e.Attempts++
	switch a.Status.Class() {
	case llm.Real:
		e.Real++
	case llm.Stall:
		e.Stalls++
	case llm.Errored:
		e.Errors++
	}
	if overCap(a) {
		e.OverCap++
	}
	e.StallRate = float64(e.Stalls) / float64(e.Attempts)
	return e
}

// overCap reports whether the endpoint reported more tokens for a than its request allows. llm/openai cuts such a
// report to what is allowed and marks it. An LLM of the caller's may pass it on.
func overCap(a llm.Attempt) bool {
	return a.Capped || a.Usage != nil && a.MaxTokens > 0 && a.Usage.CompletionTokens > a.MaxTokens
}
