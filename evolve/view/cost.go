package view

import (
	"cmp"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// A cost is what calls took.
type cost struct {
	calls  int // that brought an answer
	tokens int64
	flops  float64 // with timeouts charged in full
	money  float64
}

func (c cost) plus(d cost) cost {
	return cost{c.calls + d.calls, c.tokens + d.tokens, finite(c.flops + d.flops), finite(c.money + d.money)}
}

// prices charge attempts at the prices and sizes of a run's models. Both they and the counts of evolve/report read an
// attempt without usage as the tokens that were seen of it.
type prices struct{ models []llm.Model }

// newPrices returns the prices of the models that a run names.
func newPrices(models []journal.Model) (p prices) {
	for _, m := range models {
		is := llm.Model{Key: m.Key, Name: m.Name, ActiveParams: m.ActiveParams}
		if m.Price != nil {
			is.Price = &llm.Price{Prompt: m.Price.Prompt, Cached: m.Price.Cached, Completion: m.Price.Completion}
		}
		p.models = append(p.models, is)
	}
	return p
}

// of returns what an attempt cost. The call is counted elsewhere: it counts once, however many attempts it took.
func (p prices) of(a llm.Attempt) cost {
	u := llm.Usage{CompletionTokens: a.Streamed}
	if a.Usage != nil {
		u = *a.Usage
	}
	u = u.Clean()
	m := p.model(a.Model)
	sum := flops.Sum(slices.Values([]llm.Attempt{a}), m.ActiveParams, flops.WorstCase)
	return cost{tokens: int64(u.PromptTokens) + int64(u.CompletionTokens), flops: finite(sum.TotalFLOPs), money: finite(m.Price.Cost(u))}
}

// call returns what a call of these attempts cost, and what it counts as.
func (p prices) call(attempts []llm.Attempt) (sum cost, class llm.Class) {
	for _, a := range attempts {
		sum = sum.plus(p.of(a))
		class = a.Status.Class()
	}
	if class == llm.Real {
		sum.calls = 1
	}
	return sum, class
}

// model returns the model with a key. An attempt names none in a run that has only one.
func (p prices) model(key string) llm.Model {
	i := slices.IndexFunc(p.models, func(m llm.Model) bool { return m.Key == key })
	switch {
	case i >= 0:
		return p.models[i]
	case len(p.models) > 0:
		return p.models[0]
	}
	return llm.Model{}
}

// modelOf returns the model that a call asked last, "" if its attempts name none.
func modelOf(attempts []llm.Attempt) (name string) {
	for _, a := range attempts {
		name = cmp.Or(a.Model, name)
	}
	return name
}
