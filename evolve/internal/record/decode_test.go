package record

import (
	"bytes"
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

// Records are written by encoding/json and read by go-json-experiment, which must read what encoding/json would.
func TestDecodeReadsAsEncodingJSON(t *testing.T) {
	for _, r := range frequent() {
		line := object(t, r)
		want := Record{Index: 17}
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		if got, err := decode(line); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", line, err, got, want)
		}
	}
}

// Whatever this package could have written is decoded as encoding/json reads it.
func FuzzDecode(f *testing.F) {
	for _, r := range frequent() {
		f.Add(object(f, r))
	}
	for _, line := range []string{
		`{"i":1,"kind":"program","t":1,"text":"\ud83d\ude00"}`, `{"i":1,"kind":"program","t":1,"text":"\u00`,
		`{"i":1,"kind":"program","t":1,"text":"` + "\xff" + `"}`,
		`{"i":01,"t":1}`, `{"i":1,"t":-0,"score":-0}`, `{"i":1,"t":1,"score":1e999}`, `{"i":1,"t":1,"n":null}`,
		`{"i":1,"t":1,"result":{"score":1,"valid":true,"metrics":{"a":1,"a":2}}}`, `{"i":1,"t":9223372036854775808}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := decode(line)
		var want struct {
			I int `json:"i"`
			Record
		}
		if bad := json.Unmarshal(line, &want); bad != nil || want.complete() != nil {
			return
		}
		if written, _ := json.Marshal(want); !bytes.Equal(written, line) {
			return
		}
		want.Index = want.I
		if want.shorten(); err != nil || !reflect.DeepEqual(*got, want.Record) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", line, err, got, want.Record)
		}
	})
}
