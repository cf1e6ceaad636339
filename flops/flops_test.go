package flops_test

import (
	"encoding/json"
	"iter"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// paperRun is a run as the paper's code writes it, with what that code made of it.
type paperRun struct {
	Name   string `json:"name"`
	Active int64  `json:"params_active"`
	Run    struct {
		Trajectory []struct {
			Children []struct {
				Attempts []paperAttempt `json:"attempts"`
			} `json:"children"`
		} `json:"trajectory"`
	} `json:"run"`
	Want map[string]json.RawMessage `json:"flops_summary"`
	// PerRound is the worst case of each generation.
	PerRound []float64 `json:"flops_per_round"`
}

type paperAttempt struct {
	Status       string `json:"status"`
	TimedOut     bool   `json:"timed_out"`
	FinishReason string `json:"finish_reason"`
	Estimated    int    `json:"estimated_output_tokens"`
	Usage        *struct {
		Prompt     *int `json:"prompt_tokens"`
		Completion int  `json:"completion_tokens"`
		Details    *struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// attempt reads a the way the paper's code does: the flag decides what a timeout is, and an empty
// usage is none.
func (a paperAttempt) attempt() llm.Attempt {
	out := llm.Attempt{Status: llm.OK, FinishReason: a.FinishReason, MaxTokens: a.Estimated}
	switch {
	case a.TimedOut:
		out.Status = llm.Timeout
		return out
	case a.Status != "ok" && a.Status != "":
		out.Status = llm.Failed
	}
	if a.Usage != nil && a.Usage.Prompt != nil {
		out.Usage = &llm.Usage{PromptTokens: *a.Usage.Prompt, CompletionTokens: a.Usage.Completion}
		if a.Usage.Details != nil {
			out.Usage.CachedTokens = a.Usage.Details.Cached
		}
	}
	return out
}

func TestAgainstPaper(t *testing.T) {
	data, err := os.ReadFile("testdata/paper.json")
	if err != nil {
		t.Fatal(err)
	}
	var runs []paperRun
	if err := json.Unmarshal(data, &runs); err != nil {
		t.Fatal(err)
	}
	if len(runs) < 10 {
		t.Fatalf("%d runs in testdata, want all of them", len(runs))
	}
	for _, run := range runs {
		t.Run(run.Name, func(t *testing.T) { compare(t, run) })
	}
}

func compare(t *testing.T, run paperRun) {
	gens := generations(run)
	all := slices.Values(slices.Concat(gens...))
	for _, rule := range []flops.Rule{flops.WorstCase, flops.Exclude, flops.Bounded} {
		var want flops.Summary
		if err := json.Unmarshal(run.Want[string(rule)], &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, flops.Sum(all, run.Active, rule)); diff != "" {
			t.Errorf("%s: (-paper +ours)\n%s", rule, diff)
		}
	}
	var perRound []float64
	for _, g := range gens {
		perRound = append(perRound, flops.Sum(slices.Values(g), run.Active, flops.WorstCase).TotalFLOPs)
	}
	if !slices.Equal(perRound, run.PerRound) {
		t.Errorf("per round: %v, paper has %v", perRound, run.PerRound)
	}
}

// generations returns the attempts of each generation; row 0 is the initial program, which the
// paper's code skips.
func generations(run paperRun) [][]llm.Attempt {
	var out [][]llm.Attempt
	for i, row := range run.Run.Trajectory {
		if i == 0 {
			continue
		}
		var gen []llm.Attempt
		for _, c := range row.Children {
			for _, a := range c.Attempts {
				gen = append(gen, a.attempt())
			}
		}
		out = append(out, gen)
	}
	return out
}

func TestSum(t *testing.T) {
	length := func(n int) llm.Attempt {
		return llm.Attempt{Status: llm.OK, FinishReason: "length", Usage: &llm.Usage{CompletionTokens: n}}
	}
	late := llm.Attempt{Status: llm.Timeout, MaxTokens: 1000, Streamed: 7}
	for _, tt := range []struct {
		name     string
		attempts []llm.Attempt
		want     map[flops.Rule]float64 // in units of 2 FLOPs: tokens of a model of one parameter
	}{
		{"the median of an even count is truncated", []llm.Attempt{length(3), length(4), late},
			map[flops.Rule]float64{"worst_case": 1007, "exclude": 7, "bounded": 10, "observed": 14}},
		{"the median of an odd count is the middle one", []llm.Attempt{length(9), length(1), length(4), late},
			map[flops.Rule]float64{"worst_case": 1014, "exclude": 14, "bounded": 18, "observed": 21}},
		{"cached above prompt does not make it negative", []llm.Attempt{{Status: llm.OK,
			Usage: &llm.Usage{PromptTokens: 10, CachedTokens: 99, CompletionTokens: 1}}},
			map[flops.Rule]float64{"worst_case": 1, "exclude": 1, "bounded": 1, "observed": 1}},
		{"negative counts are nothing", []llm.Attempt{{Status: llm.OK,
			Usage: &llm.Usage{PromptTokens: -5, CachedTokens: -9, CompletionTokens: -1}}},
			map[flops.Rule]float64{"worst_case": 0, "exclude": 0, "bounded": 0, "observed": 0}},
		{"a stall is charged as a timeout, what streamed is observed",
			[]llm.Attempt{{Status: llm.Stalled, MaxTokens: 50, Streamed: 3}},
			map[flops.Rule]float64{"worst_case": 50, "exclude": 0, "bounded": 0, "observed": 3}},
		{"giving up is not free", []llm.Attempt{{Status: llm.Canceled, MaxTokens: 50, Streamed: 3}},
			map[flops.Rule]float64{"worst_case": 50, "exclude": 0, "bounded": 0, "observed": 3}},
		{"usage of a timeout, where the server sent it, is what counts", []llm.Attempt{{Status: llm.Timeout, MaxTokens: 50,
			Usage: &llm.Usage{PromptTokens: 2, CompletionTokens: 3}}},
			map[flops.Rule]float64{"worst_case": 5, "exclude": 5, "bounded": 5, "observed": 5}},
		{"what was never sent costs nothing", []llm.Attempt{{Status: llm.Timeout, Unsent: true, MaxTokens: 50},
			{Status: llm.Stalled, Unsent: true, MaxTokens: 50}, {Status: llm.Failed, Unsent: true, MaxTokens: 50}, length(4)},
			map[flops.Rule]float64{"worst_case": 4, "exclude": 4, "bounded": 4, "observed": 4}},
		{"an error costs only what was seen of it", []llm.Attempt{{Status: llm.Failed, Kind: llm.KindServer, MaxTokens: 50,
			Streamed: 3}},
			map[flops.Rule]float64{"worst_case": 0, "exclude": 0, "bounded": 0, "observed": 3}},
		{"an attempt's own model is what it is charged at", []llm.Attempt{{Status: llm.OK, ActiveParams: 10,
			Usage: &llm.Usage{PromptTokens: 1, CompletionTokens: 1}}},
			map[flops.Rule]float64{"worst_case": 20, "exclude": 20, "bounded": 20, "observed": 20}},
	} {
		for rule, want := range tt.want {
			got := flops.Sum(slices.Values(tt.attempts), 1, rule)
			if got.TotalFLOPs != 2*want {
				t.Errorf("%s: %s: %v FLOPs, want %v", tt.name, rule, got.TotalFLOPs, 2*want)
			}
		}
	}
}

func TestUnknownRulePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	flops.Sum(slices.Values([]llm.Attempt(nil)), 1, "no_such_rule")
}

// Whatever servers claim, no total is negative or not finite, and the parts add up to the whole.
func FuzzSum(f *testing.F) {
	f.Add(10, 4, 3, 100, 7, uint8(0))
	f.Add(-1, 1<<40, -7, -3, -1, uint8(1))
	f.Add(math.MaxInt, 0, math.MaxInt, 9, 9, uint8(0))
	f.Fuzz(func(t *testing.T, prompt, cached, completion, limit, streamed int, status uint8) {
		statuses := []llm.Status{llm.OK, llm.Timeout, llm.Stalled, llm.Canceled, llm.Failed}
		clip := func(n int) int { return n % (1 << 40) }
		a := llm.Attempt{
			Status: statuses[int(status)%len(statuses)], MaxTokens: clip(limit), Streamed: clip(streamed),
			FinishReason: "length",
			Usage:        &llm.Usage{PromptTokens: prompt, CachedTokens: cached, CompletionTokens: completion},
		}
		b := a
		b.Usage = nil
		for _, rule := range flops.Rules() {
			whole := flops.Sum(seq(a, b), 8_190_726_144, rule)
			turned := flops.Sum(seq(b, a), 8_190_726_144, rule)
			if whole.TotalFLOPs < 0 || math.IsInf(whole.TotalFLOPs, 0) || whole.TotalFLOPs != turned.TotalFLOPs {
				t.Errorf("%s: whole %v, in the other order %v", rule, whole.TotalFLOPs, turned.TotalFLOPs)
			}
		}
	})
}

func seq(a ...llm.Attempt) iter.Seq[llm.Attempt] { return slices.Values(a) }
