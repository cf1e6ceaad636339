package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/llm"
)

// frequent are records of the kinds of which a journal has many, with all that they usually have.
func frequent() []Record {
	key, zero, text := strings.Repeat("0f", named), 0, "a < b && c > \"d\"\\\n\té 😀 \u2028 \x01"
	ok := llm.Attempt{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 50, CachedTokens: 42, CompletionTokens: 7},
		MaxTokens: 100, FinishReason: "stop",
		Latency: 1_000_000, Model: "m", ActiveParams: 8e9, Endpoint: "http://localhost:1"}
	stalled := llm.Attempt{Status: llm.Stalled, Unsent: true, Kind: "k", Capped: true, Streamed: 3, EstimatedPrompt: 4,
		FinishReason: "other", Err: "gone"}
	return []Record{
		{Kind: Begin, Key: key, N: 3, Time: 1, Pull: &zero, For: "judge", MaxTokens: 9},
		{Kind: Completion, Key: key, Time: 1, Reply: &llm.Reply{Text: text, Reasoning: "r",
			Attempts: []llm.Attempt{stalled, ok}}, Prompt: 3},
		{Kind: Program, Key: key, Time: 1, Text: text},
		{Kind: Evaluation, Key: key, Time: 1, For: "claim", Program: key, Took: 5,
			Result: &eval.Result{Score: -1.5e-9, Valid: true, Metrics: map[string]float64{"a": 1e21, "b": 0},
				Artifacts: map[string]string{"log": text}, Cases: []float64{1, 2.5}}},
		{Kind: Evaluation, Key: key, Time: 1, Program: key, Result: &eval.Result{Reason: "no"}},
		{Kind: Child, Key: key, Time: 1, Program: key, Pull: &zero, Child: &zero, Step: 2,
			Proposal: books.Proposal{ID: 3, Parents: []int{0, 1}, Operator: "cross", State: books.StateValid, Valid: true,
				Score: 0.1, Reason: "none"}},
	}
}

// object returns a record as it stands in a file, without its checksum.
func object(t testing.TB, r Record) []byte {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte(`{"i":17,`), data[1:]...)
}

// The frequent records are read without encoding/json, which takes several times as long, and come out as it reads
// them.
func TestScan(t *testing.T) {
	for _, r := range frequent() {
		line := object(t, r)
		var got Record
		if s := (scan{b: line}); !s.record(&got) {
			t.Errorf("encoding/json has to read %s: stopped at %s", line, line[s.i:])
		}
		want, err := unmarshal(line)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, *want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", line, got, *want)
		}
	}
}

// Whatever a line holds, a scan that takes it reads what encoding/json reads.
func FuzzScan(f *testing.F) {
	for _, r := range frequent() {
		f.Add(object(f, r))
	}
	for _, line := range []string{
		`{"i":1,"kind":"program","t":1,"text":"\ud83d\ude00"}`, `{"i":1,"kind":"program","t":1,"text":"\u00`,
		`{"i":1,"kind":"program","t":1,"text":"` + "\xff" + `"}`,
		`{"i":01,"t":1}`, `{"i":1,"t":-0,"score":-0}`, `{"i":1,"t":1,"score":01}`, `{"i":1,"t":1,"score":1e999}`,
		`{"i":1,"t":1,"parents":[]}`, `{"i":1,"t":1,"n":null}`,
		`{"i":1,"kind":"child","t":1,"t":2}`, `{"i":1,"t":1,"result":{"score":1,"valid":true,"metrics":{"a":1,"a":2}}}`,
		`{"i":1,"t":1} `, `{"i":1,"t":9223372036854775808}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var got Record
		if s := (scan{b: line}); !s.record(&got) {
			return
		}
		want, err := unmarshal(line)
		if err != nil {
			t.Fatalf("encoding/json refuses what a scan takes: %s: %v", line, err)
		}
		if !reflect.DeepEqual(got, *want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", line, got, *want)
		}
	})
}
