package step

import (
	"cmp"
	"slices"

	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// A Size is what decides how much a request may cost. The journal keeps it for calls that were abandoned, instead of
// the request.
type Size struct {
	Prompt    int  // the most tokens that its prompt has
	MaxTokens *int // its override
}

// SizeOf returns the Size of req. No tokenizer passes its number of tokens. An estimate that is right on average
// would be too low for half of the prompts, and then the limit would be passed.
func SizeOf(req llm.Request) Size { return Size{llm.PromptTokens(req), req.MaxTokens} }

// charged reports whether a server may charge for an attempt that came without usage. One that refuses does not.
func charged(a llm.Attempt) bool {
	switch a.Kind {
	case "", llm.KindConnection, llm.KindBrokenReply, llm.KindNoAnswer, llm.KindOther:
		return a.Usage == nil && !a.Unsent && !a.Reported
	}
	return a.Usage == nil && a.Streamed > 0
}

// Prices are the models that a run may ask, by which it is known what an attempt costs. An attempt at a model that is
// missing is charged as one at the first.
type Prices []llm.Model

// Worst returns the most that one attempt at a request can cost at the model with this key: a token for every byte of
// the prompt and some for its frame, and the cap on new tokens. Of "" it is the most at any of the run's models.
func (p Prices) Worst(of Size, model string) Amounts {
	if model != "" && len(p) > 0 {
		p = Prices{p.model(model)}
	}
	most := Amounts{Calls: 1}
	for _, m := range p {
		a := worstOf(of, m)
		most.Tokens, most.FLOPs, most.Money = max(most.Tokens, a.Tokens), max(most.FLOPs, a.FLOPs), max(most.Money, a.Money)
	}
	return most
}

// Least returns the least that one attempt can be asked to set aside, whichever of the models it asks.
func (p Prices) Least(of Size) Amounts {
	l := p.Worst(of, "")
	for _, m := range p {
		a := worstOf(of, m)
		l.Tokens, l.FLOPs, l.Money = min(l.Tokens, a.Tokens), min(l.FLOPs, a.FLOPs), min(l.Money, a.Money)
	}
	return l
}

// worstOf prices the prompt with and without the cache, because a price list may make either dearer.
func worstOf(of Size, m llm.Model) Amounts {
	prompt, completion := of.Prompt, newTokens(of.MaxTokens, m)
	return Amounts{
		Tokens: int64(prompt + completion),
		FLOPs:  2 * float64(m.ActiveParams) * float64(prompt+completion),
		Money: max(m.Price.Cost(llm.Usage{PromptTokens: prompt, CompletionTokens: completion}),
			m.Price.Cost(llm.Usage{PromptTokens: prompt, CachedTokens: prompt, CompletionTokens: completion})),
	}
}

// newTokens returns the cap on new tokens that is in force: the request's override, or else the model's. An agent may
// ask for any number, and a sum with one near the largest integer would be negative: room that nobody has.
func newTokens(override *int, m llm.Model) int {
	most := m.WithDefaults().MaxTokens
	if override != nil {
		most = *override
	}
	return llm.Usage{CompletionTokens: most}.Clean().CompletionTokens
}

// Used returns what attempts at a request cost, and the endpoints of those that stalled. That is their usage where
// the server sent it. An attempt that was sent, did not fail, and came without usage is taken to have cost the most
// it can: a server that keeps usage to itself would otherwise run for ever.
func (p Prices) Used(of Size, attempts []llm.Attempt) (sum Amounts, stalls []string) {
	for _, a := range attempts {
		if a.Status.Class() == llm.Stall {
			stalls = append(stalls, a.Endpoint)
		}
		m, u := p.model(a.Model), a.Known()
		if a.Usage == nil && a.Status != llm.Failed && !a.Unsent {
			most := cmp.Or(a.MaxTokens, newTokens(of.MaxTokens, m))
			u = llm.Usage{PromptTokens: of.Prompt, CompletionTokens: max(most, a.Streamed)}.Clean()
		}
		// Package flops takes an answer without usage as free, as the paper does. A budget must not.
		if a.Status == llm.OK || a.Usage != nil {
			a.Usage = &u
		}
		sum = sum.Plus(Amounts{
			Tokens: int64(u.PromptTokens) + int64(u.CompletionTokens),
			FLOPs:  flops.WorstCase.Charge(a, m.ActiveParams, 0),
			Money:  m.Price.Of(a, u),
		})
	}
	return sum, stalls
}

// model returns the model with this key, and the first if none has it.
func (p Prices) model(key string) llm.Model {
	i := slices.IndexFunc(p, func(m llm.Model) bool { return m.Key == key })
	if len(p) == 0 {
		return llm.Model{}
	}
	return p[max(i, 0)]
}
