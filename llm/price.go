package llm

// A Price is the price of a model's tokens, per million, in the currency of the budget.
type Price struct {
	Prompt, Cached, Completion float64
}

// Of returns what an attempt cost that used u: what it was reported to cost, or else the cost of u at this price.
func (p *Price) Of(a Attempt, u Usage) float64 {
	if a.Reported && a.Money > 0 { // not NaN
		return min(a.Money, mostMoney)
	}
	return p.Cost(u)
}

// mostMoney bounds what one attempt is taken to have cost, so that sums of whatever programs report stay finite.
const mostMoney = 1e9

// Cost returns the cost of u: uncached prompt tokens at Prompt, cached ones at Cached, completion tokens at Completion.
// A nil Price costs 0.
func (p *Price) Cost(u Usage) float64 {
	if p == nil {
		return 0
	}
	u = u.Clean()
	fresh := u.PromptTokens - u.CachedTokens
	return (float64(fresh)*p.Prompt + float64(u.CachedTokens)*p.Cached + float64(u.CompletionTokens)*p.Completion) / 1e6
}
