package openai

import (
	"encoding/json"
	"math"

	"github.com/evoalloc/evoalloc/llm"
)

// maxTokensCounted is more than any call can use: counts above are a server's mistake.
const maxTokensCounted = 1e9

// parseUsage reads a usage object by the rules of the package comment. It returns nil for one
// that is absent or cannot be true.
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

// bounded returns the usage of ans as far as it can be true of the request b, and whether that is less than
// the server claims.
func (c *Client) bounded(b *body, ans answer) (u *llm.Usage, capped bool) {
	if ans.usage == nil {
		return nil, false
	}
	cut := *ans.usage
	cut.PromptTokens = min(cut.PromptTokens, llm.PromptTokens(b.Messages)+c.extraBytes)
	cut.CachedTokens = min(cut.CachedTokens, cut.PromptTokens)
	cut.CompletionTokens = min(cut.CompletionTokens, max(c.cap(b), ans.streamed))
	return &cut, ans.excess || cut != *ans.usage
}

// cap is the most new tokens that the request b allows: a field of Config.Extra can take the place of its own
// cap, or stand beside it.
func (c *Client) cap(b *body) int {
	most := b.limit()
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		switch v := c.cfg.Extra[name].(type) {
		case nil:
		case int:
			most = max(most, v)
		default: // a number of another type, or none
			most = maxTokensCounted
		}
	}
	return most
}

// count returns a number of tokens that can be one.
func count(n *float64) (int, bool) {
	if n == nil || !(*n >= 0 && *n <= maxTokensCounted) || math.Trunc(*n) != *n {
		return 0, false
	}
	return int(*n), true
}
