package report

import (
	"iter"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// Counts counts calls, attempts and tokens by [llm.Class]. Every attempt belongs to one class, and a
// call to that of its last attempt, so the classes sum to the whole.
type Counts struct {
	Calls     map[llm.Class]int    `json:"calls"`             // one a child, however many attempts
	Attempts  map[llm.Class]int    `json:"attempts_by_class"` // every one
	Tokens    map[llm.Class]Tokens `json:"tokens"`
	StallRate float64              `json:"stall_rate"` // stalled attempts / attempts; 0 if there are none
	// Endpoints counts attempts by the replica that was asked, where attempts say.
	Endpoints map[string]Endpoint `json:"endpoints,omitempty"`
}

// Tokens sums the tokens of attempts, as far as they are known: by usage, or as they streamed.
type Tokens struct {
	Prompt     int `json:"prompt"`
	Cached     int `json:"cached"`
	Completion int `json:"completion"`
}

// An Endpoint counts the attempts at one endpoint, by what they came to. StallRate is Stalls/Attempts.
type Endpoint struct {
	Attempts  int     `json:"attempts"`
	Real      int     `json:"real"`
	Stalls    int     `json:"stalls"`
	Errors    int     `json:"errors"`
	StallRate float64 `json:"stall_rate"`
}

// newCounts counts calls, each given by its attempts.
func newCounts(calls iter.Seq[[]llm.Attempt]) Counts {
	r := Counts{
		Calls: map[llm.Class]int{}, Attempts: map[llm.Class]int{}, Tokens: map[llm.Class]Tokens{},
		Endpoints: map[string]Endpoint{},
	}
	for _, c := range llm.Classes() {
		r.Calls[c], r.Attempts[c], r.Tokens[c] = 0, 0, Tokens{}
	}
	for attempts := range calls {
		r.Calls[evolve.Child{Attempts: attempts}.Class()]++
		for _, a := range attempts {
			r.add(a)
		}
	}
	total := 0
	for _, n := range r.Attempts {
		total += n
	}
	if total > 0 {
		r.StallRate = float64(r.Attempts[llm.Stall]) / float64(total)
	}
	return r
}

// add counts one attempt.
func (r *Counts) add(a llm.Attempt) {
	class := a.Status.Class()
	r.Attempts[class]++
	t := r.Tokens[class]
	if a.Usage != nil {
		u := a.Usage.Clean()
		t.Prompt += u.PromptTokens
		t.Cached += u.CachedTokens
		t.Completion += u.CompletionTokens
	} else {
		t.Completion += llm.Usage{CompletionTokens: a.Streamed}.Clean().CompletionTokens
	}
	r.Tokens[class] = t
	if a.Endpoint == "" {
		return
	}
	e := r.Endpoints[a.Endpoint]
	e.Attempts++
	switch class {
	case llm.Real:
		e.Real++
	case llm.Stall:
		e.Stalls++
	case llm.Errored:
		e.Errors++
	}
	e.StallRate = float64(e.Stalls) / float64(e.Attempts)
	r.Endpoints[a.Endpoint] = e
}
