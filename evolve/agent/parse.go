package agent

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/evoalloc/evoalloc/llm"
)

// A Parse reads what an agent with a login of its own prints on standard output: the usage of the session, nil if there
// is none, and what it cost in the currency of the budget, 0 if the agent does not say. It also reads the output of an
// agent that failed, since that was paid for.
type Parse func(stdout []byte) (usage *llm.Usage, money float64)

// Claude is a [Parse] for "claude -p --output-format json", and for stream-json, whose last line is the same object.
// Negative and absurd numbers are taken for none.
func Claude(stdout []byte) (*llm.Usage, float64) {
	lines := bytes.Split(stdout, []byte("\n"))
	slices.Reverse(lines)
	for _, text := range append([][]byte{stdout}, lines...) {
		var said struct {
			Money float64         `json:"total_cost_usd"`
			Raw   json.RawMessage `json:"usage"`
		}
		if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' || json.Unmarshal(text, &said) != nil {
			continue
		}
		usage := map[string]json.RawMessage{}
		if json.Unmarshal(said.Raw, &usage) != nil || len(usage) == 0 {
			return nil, max(said.Money, 0)
		}
		count := func(name string) int {
			var n float64
			json.Unmarshal(usage[name], &n) // what is no number counts 0
			return int(min(max(n, 0), 1<<30))
		}
		u := llm.Usage{CachedTokens: count("cache_read_input_tokens"), CompletionTokens: count("output_tokens")}
		u.PromptTokens = count("input_tokens") + count("cache_creation_input_tokens") + u.CachedTokens
		u = u.Clean()
		return &u, max(said.Money, 0)
	}
	return nil, 0
}
