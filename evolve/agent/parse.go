package agent

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
)

// A Parse reads what an agent with a login of its own prints on standard output: the usage of the session, nil if there
// is none, and what it cost in the currency of the budget, 0 if the agent does not say. It also reads the output of an
// agent that failed, since that was paid for.
type Parse func(stdout []byte) (usage *llm.Usage, money float64)

// Fields are the places of a usage in a JSON object: names joined by dots, as in "usage.input_tokens". A place that is
// "" or missing counts 0.
type Fields struct {
	Money              string
	Prompt             []string // prompt tokens are the sum of these
	Cached, Completion string
}

// Claude is a [Parse] for "claude -p --output-format json", and for stream-json, whose last line is the same object.
func Claude(stdout []byte) (*llm.Usage, float64) {
	return JSON(Fields{Money: "total_cost_usd",
		Prompt:     []string{"usage.input_tokens", "usage.cache_creation_input_tokens", "usage.cache_read_input_tokens"},
		Cached:     "usage.cache_read_input_tokens",
		Completion: "usage.output_tokens",
	})(stdout)
}

// JSON returns a [Parse] for agents that print an object with these fields, alone or as the last line that is one.
// Negative and absurd numbers are taken for none.
func JSON(f Fields) Parse {
	return func(stdout []byte) (*llm.Usage, float64) {
		object := lastObject(stdout)
		var u llm.Usage
		known := false
		count := func(to *int, place string) {
			if n, ok := at(object, place).(float64); ok && n >= 0 {
				*to, known = *to+int(min(n, 1<<30)), true
			}
		}
		for _, place := range f.Prompt {
			count(&u.PromptTokens, place)
		}
		count(&u.CachedTokens, f.Cached)
		count(&u.CompletionTokens, f.Completion)
		money, _ := at(object, f.Money).(float64)
		if !known {
			return nil, max(money, 0)
		}
		u = u.Clean()
		return &u, max(money, 0)
	}
}

// at returns the value at a place, or nil if there is none.
func at(object map[string]any, place string) any {
	var v any = object
	for name := range strings.SplitSeq(place, ".") {
		fields, _ := v.(map[string]any)
		v = fields[name]
	}
	return v
}

// lastObject returns the object that stdout is, or else its last line that is one, or nil.
func lastObject(stdout []byte) (object map[string]any) {
	if json.Unmarshal(stdout, &object) == nil {
		return object
	}
	for rest := bytes.TrimSpace(stdout); len(rest) > 0; {
		i := bytes.LastIndexByte(rest, '\n')
		line := bytes.TrimSpace(rest[i+1:])
		object = nil
		if len(line) > 0 && line[0] == '{' && json.Unmarshal(line, &object) == nil {
			return object
		}
		rest = rest[:max(i, 0)]
	}
	return nil
}
