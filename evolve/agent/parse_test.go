package agent_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve/agent"
	"github.com/evoalloc/evoalloc/llm"
)

// claudes is what "claude -p --output-format json" prints, in the fields that are read and some others.
const claudes = `{"type":"result","subtype":"success","is_error":false,"duration_ms":3952,"num_turns":1,"result":"hello\n",` +
	`"session_id":"s","total_cost_usd":0.10457895,"usage":{"input_tokens":2,"output_tokens":9,"cache_creation_input_tokens":7924,` +
	`"cache_read_input_tokens":13368,"service_tier":"standard"},"permission_denials":[]}`

func TestParse(t *testing.T) {
	usage := &llm.Usage{PromptTokens: 2 + 7924 + 13368, CachedTokens: 13368, CompletionTokens: 9}
	for _, tt := range []struct {
		reason string
		stdout string
		usage  *llm.Usage
		money  float64
	}{
		{"Claude Code's", claudes, usage, 0.10457895},
		{"its stream, whose last line is the result", `{"type":"system"}` + "\n" + claudes + "\n", usage,
			0.10457895},
		{"its error, which was paid for", strings.Replace(claudes, `"is_error":false`, `"is_error":true`, 1),
			usage, 0.10457895},
		{"words before the object", "Loading {...}\n" + `{"usage":{"input_tokens":3,"output_tokens":4},"total_cost_usd":2}` + "\nbye",
			&llm.Usage{PromptTokens: 3, CompletionTokens: 4}, 2},
		{"an object over several lines", "{\n\"usage\": {\"input_tokens\": 3}\n}\n", &llm.Usage{PromptTokens: 3}, 0},
		{"counts that lie", `{"usage":{"input_tokens":-3,"output_tokens":1e300},"total_cost_usd":-1}`,
			&llm.Usage{CompletionTokens: 1 << 30}, 0},
		{"a count that is a word", `{"usage":{"input_tokens":"many","output_tokens":null},"total_cost_usd":1}`, &llm.Usage{}, 1},
		{"a usage that is a number", `{"usage":7,"total_cost_usd":1}`, nil, 1},
		{"no object", "hello\n[1]\nnull", nil, 0},
		{"nothing", " \n", nil, 0},
	} {
		usage, money := agent.Claude([]byte(tt.stdout))
		if diff := cmp.Diff(tt.usage, usage); diff != "" || money != tt.money {
			t.Errorf("%s: money %v, want %v; usage (-want +got):\n%s", tt.reason, money, tt.money, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{claudes, "hello", "{}\n{", `{"usage":{"input_tokens":1e999}}`, `{"result":{},"usage":[]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stdout []byte) {
		u, money := agent.Claude(stdout)
		if u != nil && (u.PromptTokens < 0 || u.CompletionTokens < 0 || u.CachedTokens < 0) || !(money >= 0) ||
			math.IsInf(money, 0) {
			t.Errorf("%q has usage %+v, money %v", stdout, u, money)
		}
	})
}
