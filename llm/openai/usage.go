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

// count returns a number of tokens that can be one.
func count(n *float64) (int, bool) {
	if n == nil || !(*n >= 0 && *n <= maxTokensCounted) || math.Trunc(*n) != *n {
		return 0, false
	}
	return int(*n), true
}
