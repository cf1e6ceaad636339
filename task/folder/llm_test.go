package folder

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadLLM(t *testing.T) {
	for _, tt := range []struct {
		config string
		want   LLM
		reason string
	}{
		{"", LLM{}, "nothing is said"},
		{"llm:\n", LLM{}, "an empty section"},
		{"llm: {temperature: 0.7, top_p: 0.9, max_tokens: 4096, reasoning_effort: low}",
			LLM{Temperature: 0.7, TopP: 0.9, MaxTokens: 4096, Effort: "low"}, "how the model answers"},
		{"llm: {temperature: null, top_p: ~}", LLM{}, "null is not set"},
		{"llm: {temperature: 0, top_p: 0}", LLM{Ignored: []string{"llm.temperature", "llm.top_p"}}, "0 is not taken"},
		{"llm:\n  models:\n    - {name: a, weight: 0.8}\n    - {name: b}", LLM{Models: []weighted{{"a", 0.8}, {"b", 1}}},
			"a weight that is left out is 1"},
		{"llm: {primary_model: a, primary_model_weight: 0.8, secondary_model: b}",
			LLM{Models: []weighted{{"a", 0.8}, {"b", 0.2}}},
			"the keys of before, and the second one's usual weight"},
		{"llm: {primary_model: a, secondary_model: b, secondary_model_weight: 0}", LLM{Models: []weighted{{"a", 1}}},
			"a weight of 0 is no model"},
		{"llm: {system_message: S, api_base: 'http://x', api_key: k, models: [{name: a, temperature: 0.2}]}",
			LLM{Models: []weighted{{"a", 1}}, Ignored: []string{"llm.models[0].temperature", "llm.api_base", "llm.api_key"}},
			"keys that are not taken, without their values"},
	} {
		got, err := ReadLLM(with(t, tt.config))
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %q: %v (-want +got):\n%s", tt.reason, tt.config, err, diff)
		}
	}
	for _, tt := range []struct{ config, want string }{
		{"llm: {temperature: hot}", "config.yaml: line 1: llm.temperature is \"hot\": need a number from 0 to 100"},
		{"llm: {models: [{name: a, weight: -1}]}", "llm.models[0].weight is \"-1\""},
		{"llm: {models: [a]}", "llm.models[0] is not a mapping"},
		{"llm: 3", "llm is not a mapping"},
	} {
		if _, err := ReadLLM(with(t, tt.config)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.config, err, tt.want)
		}
	}
}
