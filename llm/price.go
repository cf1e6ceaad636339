package llm

// A Price is what a model's tokens cost, per million, in whatever currency the budget is counted in.
type Price struct {
	Prompt, Cached, Completion float64
}

// Cost returns what u costs: uncached prompt tokens at Prompt, cached ones at Cached, completion tokens
// at Completion. The cost of a nil Price is 0.
func (p *Price) Cost(u Usage) float64 {
	if p == nil {
		return 0
	}
	u = u.Clean()
	fresh := u.PromptTokens - u.CachedTokens
	return (float64(fresh)*p.Prompt + float64(u.CachedTokens)*p.Cached + float64(u.CompletionTokens)*p.Completion) / 1e6
}
