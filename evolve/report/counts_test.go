package report_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
)

// An endpoint is named by the attempts for which it reported more than their cap allows.
func TestOverCap(t *testing.T) {
	of := func(endpoint string, most, tokens int) []llm.Attempt {
		return []llm.Attempt{{Status: llm.OK, Endpoint: endpoint, MaxTokens: most,
			Usage: &llm.Usage{PromptTokens: 9, CompletionTokens: tokens}}}
	}
	counts := result.Count(slices.Values([][]llm.Attempt{
		of("honest", 100, 100), // for length
		of("honest", 0, 5000),  // the cap is not known
		{{Status: llm.Timeout, Endpoint: "honest", MaxTokens: 100}},
		of("liar", 100, 101),
		of("liar", 100, 1090),
		of("liar", 100, 99),
		{{Status: llm.OK, Endpoint: "liar", MaxTokens: 100, Capped: true,
			Usage: &llm.Usage{PromptTokens: 9, CompletionTokens: 100}}},
	}))
	if honest, liar := counts.Endpoints["honest"].OverCap, counts.Endpoints["liar"].OverCap; honest != 0 || liar != 3 {
		t.Errorf("the honest endpoint passed caps %d times, the other %d times, want 0 and 3", honest, liar)
	}
}

// Lost calls count at an endpoint, so that endpoints sum to the attempts of the run.
func TestLostCallsCountAtAnEndpoint(t *testing.T) {
	at := func(endpoint string) llm.Attempt { return llm.Attempt{Status: llm.OK, Endpoint: endpoint} }
	for _, tt := range []struct {
		reason  string
		made    []llm.Attempt
		aborted []llm.Attempt
		lost    []llm.Attempt
		want    map[string]int // attempts by endpoint
	}{
		{"one endpoint", []llm.Attempt{at("a"), at("a")}, nil, []llm.Attempt{at("")},
			map[string]int{"a": 2, "unknown": 1}},
		{"two endpoints, one in each part", []llm.Attempt{at("a")}, []llm.Attempt{at("b")}, []llm.Attempt{at(""), at("")},
			map[string]int{"a": 1, "b": 1, "unknown": 2}},
		{"the lost call names its own", []llm.Attempt{at("a")}, nil, []llm.Attempt{at("c"), at("")},
			map[string]int{"a": 1, "c": 1, "unknown": 1}},
	} {
		g := evolve.Generation{Children: []evolve.Child{{Attempts: tt.made}}}
		r := &evolve.Result{Arms: []evolve.ArmResult{{Generations: []evolve.Generation{g}}}}
		if tt.aborted != nil {
			r.Earlier.Abandoned = [][]llm.Attempt{tt.aborted}
		}
		for _, a := range tt.lost {
			a.Status = llm.Canceled
			r.Earlier.Lost = append(r.Earlier.Lost, a)
		}
		file := report.NewGreedy(r, report.Header{Model: tiny}, 1)
		got := map[string]int{}
		for name, e := range file.Total.Endpoints {
			got[name] = e.Attempts
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.reason, diff)
		}
		if file.Endpoints[""].Attempts+file.Endpoints["unknown"].Attempts != 0 {
			t.Errorf("%s: the result alone has %v", tt.reason, file.Endpoints)
		}
	}
}
