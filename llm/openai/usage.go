package openai

import (
	"encoding/json"
	"math"

	"github.com/evoalloc/evoalloc/llm"
)

// maxTokensCounted is more than any call can use: larger counts are a server's mistake.
const maxTokensCounted = 1e9

// parseUsage reads a usage object. It returns nil if the object is absent or impossible.
func parseUsage(raw json.RawMessage) *llm.Usage {
	if u, ok := (&scan{b: raw}).usage(); ok {
		return u
	}
	return decodeUsage(raw)
}

// decodeUsage is parseUsage for a usage object of any form.
func decodeUsage(raw json.RawMessage) *llm.Usage {
	var u struct {
		Prompt     *float64 `json:"prompt_tokens"`
		Completion *float64 `json:"completion_tokens"`
		Details    struct {
			Cached json.RawMessage `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil {
		return nil
	}
	prompt, ok1 := count(u.Prompt)
	completion, ok2 := count(u.Completion)
	if !ok1 || !ok2 || prompt+completion == 0 {
		return nil
	}
	var cached float64
	if json.Unmarshal(u.Details.Cached, &cached) != nil || math.Trunc(cached) != cached {
		cached = 0
	}
	return &llm.Usage{
		PromptTokens:     prompt,
		CachedTokens:     int(min(max(cached, 0), float64(prompt))),
		CompletionTokens: completion,
	}
}

// bounded returns the usage of ans limited to what is possible for the request b, and whether the server claims more.
func (c *Client) bounded(b *body, ans answer) (u *llm.Usage, capped bool) {
	if ans.usage == nil {
		return nil, false
	}
	cut := *ans.usage
	cut.PromptTokens = min(cut.PromptTokens, llm.PromptTokens(b.request)+c.extraBytes)
	cut.CachedTokens = min(cut.CachedTokens, cut.PromptTokens)
	cut.CompletionTokens = min(cut.CompletionTokens, max(c.cap(b), ans.streamed))
	return &cut, ans.excess || cut != *ans.usage
}

// cap returns the most new tokens that the request b allows: a field of Config.Extra can replace the request's own cap,
// or complement it.
func (c *Client) cap(b *body) int {
	most := b.limit()
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		switch v := c.cfg.Extra[name].(type) {
		case nil:
		case int:
			most = max(most, v)
		default: // a number of another type, or not a number
			most = maxTokensCounted
		}
	}
	return most
}

// count returns n as a number of tokens, if it is possible.
func count(n *float64) (int, bool) {
	if n == nil || !(*n >= 0 && *n <= maxTokensCounted) || math.Trunc(*n) != *n {
		return 0, false
	}
	return int(*n), true
}
