package result_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
)

// encoded is what a json.Encoder writes of v.
func encoded(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func written(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	if err := result.Write(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// odd returns a result with children that have no program, no attempts, and text that is not plain.
func odd() *evolve.Result {
	failed := llm.Attempt{Status: llm.Failed, Kind: llm.KindRateLimit, Err: "<html>429 & \"more\"\n\u2028</html>"}
	late := llm.Attempt{Status: llm.Timeout, MaxTokens: 100, Streamed: 3, FinishReason: "length"}
	scored := eval.Candidate{Program: "x", Result: eval.Result{Valid: true, Score: 1e-9,
		Metrics: map[string]float64{"<b>": 1e21, "a": 2}}}
	return &evolve.Result{
		Stop: evolve.StopBudget, Limit: "Calls", Best: scored,
		Arms: []evolve.ArmResult{
			{Start: eval.Candidate{Result: eval.Invalid("no <program>")}},
			{Start: scored, Best: scored, Generations: []evolve.Generation{
				{Index: 1, Best: scored},
				{Index: 2, Partial: true, Children: []evolve.Child{{Err: "no reply"},
					{Index: 1, Attempts: []llm.Attempt{failed, late}}, {Index: 2, Candidate: scored, Duplicate: true}},
					Asides: []evolve.Call{{Kind: "judge", Attempts: []llm.Attempt{late, failed}}}},
			}},
		},
		Rounds: []evolve.Round{{Pull: bandit.Pull{Arm: 1, Prob: 0.5}},
			{Pull: bandit.Pull{Arm: 1, Prob: 1. / 3}, Generation: 1}},
		Earlier: books.Earlier{Abandoned: [][]llm.Attempt{{failed}}},
	}
}

func both() (result.Bandit, result.Greedy) {
	r := odd()
	many := report.NewBandit(r, report.BanditHeader{Header: report.Header{Task: "a<b", Model: runtest.Tiny},
		ArmSeeds: []uint32{1, 2}, BanditSeed: math.MaxUint64})
	r.Arms = r.Arms[1:]
	return many, report.NewGreedy(r, report.Header{Task: "a<b", Model: runtest.Tiny, T: 2, N: 3}, 7)
}

// What is written as it comes is what encoding/json writes of the whole.
func TestWriteIsWhatAnEncoderWrites(t *testing.T) {
	many, greedy := both()
	for _, tt := range []struct {
		reason string
		v      any
	}{
		{"a bandit", many},
		{"a greedy search", &greedy},
		{"a search that never was", report.NewGreedy(&evolve.Result{Arms: make([]evolve.ArmResult, 1)}, report.Header{}, 0)},
		{"zero values", result.Bandit{}},
		{"a string", "<b>"},
	} {
		if diff := cmp.Diff(encoded(t, tt.v), written(t, tt.v)); diff != "" {
			t.Errorf("%s: (-encoder +written)\n%s", tt.reason, diff)
		}
	}
	if n := strings.Count(written(t, many), `"idx"`); n != 3 {
		t.Errorf("%d children in the file, want 3", n)
	}
}

// A file that was read is written as it was, and its sums are those of its rows. One of a single search is read as that
// of a bandit's only arm.
func TestReadIsWhatWasWritten(t *testing.T) {
	many, greedy := both()
	want := written(t, many)
	read, err := result.Read(strings.NewReader(want))
	if err != nil || read.Alone {
		t.Fatal(read, err)
	}
	if diff := cmp.Diff(want, written(t, read)); diff != "" {
		t.Errorf("(-written +written again)\n%s", diff)
	}
	read.PerRound, read.Cumulative, read.TotalWorstCase = []float64{}, []float64{}, 0
	for i := range read.ArmResults {
		read.ArmResults[i].PerGen, read.ArmResults[i].Operators, read.ArmResults[i].Uses = []float64{}, nil, nil
	}
	read.Sum()
	if diff := cmp.Diff(want, written(t, read)); diff != "" {
		t.Errorf("(-written +summed again)\n%s", diff)
	}
	one, err := result.Read(strings.NewReader(written(t, greedy)))
	if err != nil || !one.Alone || len(one.ArmResults) != 1 {
		t.Fatal(one, err)
	}
	if diff := cmp.Diff(written(t, greedy.Search), written(t, one.ArmResults[0].Search)); diff != "" {
		t.Errorf("(-written +read)\n%s", diff)
	}
}

// full has no room after some bytes.
type full int

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteFails(t *testing.T) {
	_, greedy := both()
	room := full(100)
	if err := result.Write(&room, greedy); !errors.Is(err, errFull) {
		t.Errorf("a full disk: error %v", err)
	}
	*greedy.Trajectory[2].Children[2].Fitness = math.NaN()
	if err := result.Write(new(bytes.Buffer), greedy); err == nil {
		t.Error("no error of a score that JSON does not have")
	}
}

// largest remembers the largest piece that was written, and how much in all.
type largest struct{ piece, all int }

func (l *largest) Write(p []byte) (int, error) {
	l.piece, l.all = max(l.piece, len(p)), l.all+len(p)
	return len(p), nil
}

// However large the result, no more of its JSON is held than a buffer's worth.
func TestWriteHoldsLittle(t *testing.T) {
	const most = 1 << 17
	arm := result.Arm{Search: result.Search{Trajectory: []result.Generation{{Children: make([]result.Child, 30_000)}}}}
	for i := range arm.Trajectory[0].Children {
		arm.Trajectory[0].Children[i].Attempts = result.Attempts{{Status: llm.OK, Endpoint: "http://a/v1"}}
	}
	var w largest
	if err := result.Write(&w, result.Bandit{ArmResults: []result.Arm{arm, arm}}); err != nil {
		t.Fatal(err)
	}
	if w.piece > most || w.all < 100*most {
		t.Errorf("%d bytes, of which %d were held; want many, and at most %d held", w.all, w.piece, most)
	}
}
