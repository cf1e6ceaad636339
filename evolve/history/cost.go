package history

import (
	"cmp"
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

// attempt returns what an attempt cost. The call that it is of is counted by [Prices.Call]: it counts once, however
// many attempts it took.
func (p Prices) attempt(a llm.Attempt) Cost {
	m, u := p.model(a.Model), a.Known()
	charge := flops.WorstCase.Charge(a, m.ActiveParams, 0)
	return Cost{Tokens: Tokens{u.PromptTokens, u.CachedTokens, u.CompletionTokens}, FLOPs: finite(charge),
		Money: finite(m.Price.Of(a, u))}
}

// Call returns what a call of these attempts cost.
func (p Prices) Call(attempts []llm.Attempt) (sum Cost) {
	sum.Calls = answered(attempts)
	for _, a := range attempts {
		sum = sum.Plus(p.attempt(a))
	}
	return sum
}

func (p Prices) model(key string) llm.Model {
	i := slices.IndexFunc(p, func(m llm.Model) bool { return m.Key == key })
	switch {
	case i >= 0:
		return p[i]
	case len(p) > 0:
		return p[0]
	}
	return llm.Model{}
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
