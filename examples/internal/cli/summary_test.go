package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
)

// The summary tells of replicas, however deep in the model's stack the pool is.
func TestSummaryOfReplicas(t *testing.T) {
	answer := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: "a", Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
	})
	for _, tt := range []struct{ bases, reason string }{
		{"http://a/v1,http://b/v1", "a row for each of several"},
		{"http://a/v1", "none for one"},
	} {
		model, err := Endpoints(tt.bases, 4, func(string) (llm.LLM, error) { return answer, nil })
		if err != nil {
			t.Fatal(err)
		}
		model = llm.Retry(llm.Limit(model, 4), llm.RetryConfig{})
		if _, err := model.Generate(t.Context(), llm.Request{}); err != nil {
			t.Fatal(err)
		}
		got := printed(t, func() { (&Options{T: 1, N: 1}).summary(model, &evolve.Result{}, 0, report.Cost{}) })
		for _, base := range strings.Split(tt.bases, ",") {
			if said, several := strings.Contains(got, base), strings.Contains(tt.bases, ","); said != several {
				t.Errorf("%s: %s told of %v: %s", tt.reason, base, said, got)
			}
		}
	}
}
