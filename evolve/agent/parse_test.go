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
	paths := agent.JSON(agent.Fields{Money: "cost", Prompt: []string{"a.in"}, Completion: "out"})
	for _, tt := range []struct {
		reason string
		parse  agent.Parse
		stdout string
		usage  *llm.Usage
		money  float64
	}{
		{"Claude Code's", agent.Claude, claudes, usage, 0.10457895},
		{"its stream, whose last line is the result", agent.Claude, `{"type":"system"}` + "\n" + claudes + "\n", usage,
			0.10457895},
		{"its error, which was paid for", agent.Claude, strings.Replace(claudes, `"is_error":false`, `"is_error":true`, 1),
			usage, 0.10457895},
		{"words before the object", paths, "Loading {...}\n" + `{"a":{"in":3},"out":4,"cost":2}` + "\nbye",
			&llm.Usage{PromptTokens: 3, CompletionTokens: 4}, 2},
		{"an object over several lines", paths, "{\n\"a\": {\"in\": 3}\n}\n", &llm.Usage{PromptTokens: 3}, 0},
		{"counts that lie", paths, `{"a":{"in":-3},"out":1e300,"cost":-1}`, &llm.Usage{CompletionTokens: 1 << 30}, 0},
		{"counts that are words", paths, `{"a":{"in":"many"},"out":null,"cost":"much"}`, nil, 0},
		{"a place below a number", paths, `{"a":7,"cost":1}`, nil, 1},
		{"no object", paths, "hello\n[1]\nnull", nil, 0},
		{"nothing", paths, " \n", nil, 0},
	} {
		usage, money := tt.parse([]byte(tt.stdout))
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
