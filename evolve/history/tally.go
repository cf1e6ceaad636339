package history

import (
	"iter"

	"github.com/evoalloc/evoalloc/llm"
)

// A Tally counts calls, however they ended, and sums what they cost. Each call is given by its attempts: an attempt
// belongs to one class and a call to that of its last attempt, so the classes add up to the whole.
type Tally struct {
	Spent    Cost               // by all calls
	Calls    map[llm.Class]int  // one a call, however many attempts
	Attempts map[llm.Class]int  // by how each ended
	Classes  map[llm.Class]Cost // what attempts cost, by their class; no calls are counted here
	// ByEndpoint has the attempts that name the endpoint which was asked.
	ByEndpoint map[string]Tries
}

// Tries are the attempts at one endpoint.
type Tries struct {
	Attempts map[llm.Class]int
	// OverCap are those for which it reported more tokens than the request allows. llm/openai cuts such a report to what
	// is allowed and marks it. An LLM of the caller's may pass it on.
	OverCap int
}

// newTally returns a Tally of no calls.
func newTally() Tally {
	return Tally{Calls: map[llm.Class]int{}, Attempts: map[llm.Class]int{}, Classes: map[llm.Class]Cost{},
		ByEndpoint: map[string]Tries{}}
}

// Tally sums calls.
func (p Prices) Tally(calls iter.Seq[[]llm.Attempt]) Tally {
	t := newTally()
	for attempts := range calls {
		t.add(p, attempts)
	}
	return t
}

// add counts a call, and returns what it cost.
func (t *Tally) add(p Prices, attempts []llm.Attempt) (sum Cost) {
	sum.Calls = answered(attempts)
	for _, a := range attempts {
		cost, class := p.attempt(a), a.Status.Class()
		sum = sum.Plus(cost)
		t.Attempts[class]++
		t.Classes[class] = t.Classes[class].Plus(cost)
		t.asked(a)
	}
	if class := llm.ClassOf(attempts); class != "" {
		t.Calls[class]++
	}
	t.Spent = t.Spent.Plus(sum)
	return sum
}

// asked counts an attempt at its endpoint. Of those after the first thousand there are no counts.
func (t *Tally) asked(a llm.Attempt) {
	e, known := t.ByEndpoint[a.Endpoint]
	if a.Endpoint == "" || !known && len(t.ByEndpoint) >= mostNames {
		return
	}
	if !known {
		e.Attempts = map[llm.Class]int{}
	}
	e.Attempts[a.Status.Class()]++
	if a.Capped || a.Usage != nil && a.MaxTokens > 0 && a.Usage.CompletionTokens > a.MaxTokens {
		e.OverCap++
	}
	t.ByEndpoint[a.Endpoint] = e
}

// answered returns 1 for a call that brought an answer, as budgets count calls, and 0 for any other.
func answered(attempts []llm.Attempt) int {
	if llm.ClassOf(attempts) == llm.Real {
		return 1
	}
	return 0
}
