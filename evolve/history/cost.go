package history

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// A Cost is what calls took.
type Cost struct {
	Calls  int     // that brought an answer
	Tokens Tokens  // from usage, or without it the estimated prompt's and what was streamed
	FLOPs  float64 // in the worst case, see package flops; 0 for models whose size is not known
	Money  float64 // 0 for models whose price is not known
}

// Tokens are those of prompts and completions.
type Tokens struct {
	Prompt     int `json:"prompt"`
	Cached     int `json:"cached"` // of the prompt's
	Completion int `json:"completion"`
}

// All returns how many there are, those of prompts and of completions.
func (t Tokens) All() int64 { return int64(t.Prompt) + int64(t.Completion) }

// Plus returns the sum.
func (t Tokens) Plus(u Tokens) Tokens {
	return Tokens{t.Prompt + u.Prompt, t.Cached + u.Cached, t.Completion + u.Completion}
}

// Plus returns the sum. What is not finite counts as 0.
func (c Cost) Plus(d Cost) Cost {
	return Cost{c.Calls + d.Calls, c.Tokens.Plus(d.Tokens), finite(c.FLOPs + d.FLOPs), finite(c.Money + d.Money)}
}

func (c Cost) sum() Spent { return Spent{c.Calls, c.Tokens.All(), c.FLOPs, c.Money} }

// Prices charge attempts at the sizes and prices of models. An attempt that names none of them is charged as the first.
type Prices []llm.Model

// attempt returns what an attempt cost, without the call that it is of.
func (p Prices) attempt(a llm.Attempt) Cost {
	m, u := llm.Model{}, a.Known()
	if i := slices.IndexFunc(p, func(m llm.Model) bool { return m.Key == a.Model }); len(p) > 0 {
		m = p[max(i, 0)]
	}
	charge := flops.WorstCase.Charge(a, m.ActiveParams, 0)
	return Cost{Tokens: Tokens{u.PromptTokens, u.CachedTokens, u.CompletionTokens}, FLOPs: finite(charge),
		Money: finite(m.Price.Of(a, u))}
}

// Call returns what a call of these attempts cost. It counts if it brought an answer, as budgets count calls.
func (p Prices) Call(attempts []llm.Attempt) (sum Cost) {
	if llm.ClassOf(attempts) == llm.Real {
		sum.Calls = 1
	}
	for _, a := range attempts {
		sum = sum.Plus(p.attempt(a))
	}
	return sum
}

// ModelOf returns the model that a call asked last, "" if its attempts name none.
func ModelOf(attempts []llm.Attempt) (name string) {
	for _, a := range attempts {
		name = cmp.Or(a.Model, name)
	}
	return name
}

// finite returns v, or 0 if it is not a finite number, which JSON cannot hold. Scores are finite, but the difference of
// two of them need not be.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// A Tally counts calls, however they ended, and sums what they cost. Each call is given by its attempts: an attempt
// belongs to one class and a call to that of its last attempt, so the classes add up to the whole.
type Tally struct {
	Spent      Cost               // by all calls
	Calls      map[llm.Class]int  // one a call, however many attempts
	Attempts   map[llm.Class]int  // by how each ended
	Classes    map[llm.Class]Cost // what attempts cost, by their class; no calls are counted here
	ByEndpoint map[string]tries   // attempts that name the endpoint which was asked: of the first thousand endpoints
}

// tries are the attempts at one endpoint.
type tries struct {
	Attempts map[llm.Class]int
	// OverCap are those for which it reported more tokens than the request allows. llm/openai cuts such a report to what
	// is allowed and marks it. An LLM of the caller's may pass it on.
	OverCap int
}

func newTally() Tally {
	return Tally{Calls: map[llm.Class]int{}, Attempts: map[llm.Class]int{}, Classes: map[llm.Class]Cost{},
		ByEndpoint: map[string]tries{}}
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
func (t *Tally) add(p Prices, attempts []llm.Attempt) Cost {
	sum := p.Call(attempts)
	for _, a := range attempts {
		class := a.Status.Class()
		t.Attempts[class]++
		t.Classes[class] = t.Classes[class].Plus(p.attempt(a))
		t.asked(a)
	}
	if class := llm.ClassOf(attempts); class != "" {
		t.Calls[class]++
	}
	t.Spent = t.Spent.Plus(sum)
	return sum
}

// asked counts an attempt at its endpoint.
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
