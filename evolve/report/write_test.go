package report_test

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
	"github.com/evoalloc/evoalloc/llm"
)

// whole is what a json.Encoder writes of v.
func whole(t *testing.T, v any) string {
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
	if err := report.Write(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// odd returns a result with children that have no program, no attempts, and text that is not plain.
func odd() *evolve.Result {
	failed := llm.Attempt{Status: llm.Failed, Kind: llm.KindRateLimit, Err: "<html>429 & \"more\"\n\u2028</html>"}
	scored := eval.Candidate{Program: "x", Result: eval.Result{Valid: true, Score: 1e-9,
		Metrics: map[string]float64{"<b>": 1, "a": 2}}}
	return &evolve.Result{
		Stop: evolve.StopBudget, Limit: "Calls", Best: scored,
		Arms: []evolve.ArmResult{
			{Start: eval.Candidate{Result: eval.Invalid("no <program>")}},
			{Start: scored, Best: scored, Generations: []evolve.Generation{
				{Index: 1, Best: scored},
				{Index: 2, Partial: true, Children: []evolve.Child{{Err: "no reply"},
					{Index: 1, Attempts: []llm.Attempt{failed, failed}}, {Index: 2, Candidate: scored, Duplicate: true}}},
			}},
		},
		Rounds:  []evolve.Round{{Pull: bandit.Pull{Arm: 1, Prob: 0.5}, Generation: 1}},
		Earlier: books.Earlier{Abandoned: [][]llm.Attempt{{failed}}},
	}
}

// extended is a report with a field of the caller's.
type extended struct {
	report.Greedy
	Task string `json:"task"` // in the place of the report's
	Note string `json:"note,omitempty"`
}

// list holds itself.
type list []list

// What is written as it comes is what encoding/json writes of the whole.
func TestWriteIsWhatAnEncoderWrites(t *testing.T) {
	r := odd()
	many := report.NewBandit(r, report.BanditHeader{Header: report.Header{Task: "a<b", Model: tiny},
		ArmSeeds: []uint32{1, 2}})
	r.Arms = r.Arms[1:]
	greedy := report.NewGreedy(r, report.Header{Task: "a<b", Model: tiny, T: 2, N: 3}, 7)
	greedyOfNothing := report.NewGreedy(&evolve.Result{Arms: make([]evolve.ArmResult, 1)}, report.Header{}, 0)
	for _, tt := range []struct {
		reason string
		v      any
	}{
		{"a bandit", many},
		{"a greedy search", greedy},
		{"a pointer to one", &greedy},
		{"a pointer to none", (*report.Greedy)(nil)},
		{"a search that never was", greedyOfNothing},
		{"the zero report", report.Bandit{}},
		{"several, and none", []any{greedy, &many, nil}},
		{"a list of reports", []report.Greedy{greedy, {}}},
		{"an empty list", []report.Greedy{}},
		{"no list", []report.Greedy(nil)},
		{"one row", greedy.Trajectory[2]},
		{"children", greedy.Trajectory[2].Children},
		{"no children", report.Children{}},
		{"reports by name", map[string]report.Greedy{"a": greedy}},
		{"a type that embeds a report", extended{Greedy: greedy, Task: "other"}},
		{"a type that holds itself", list{{}, {{}}}},
		{"null", nil},
		{"a string", "<b>"},
	} {
		if diff := cmp.Diff(whole(t, tt.v), written(t, tt.v)); diff != "" {
			t.Errorf("%s: (-encoder +written)\n%s", tt.reason, diff)
		}
	}
	if n := strings.Count(written(t, many), `"idx"`); n != 3 {
		t.Errorf("%d children in the file, want 3", n)
	}
}

// A file that was read is written as it was.
func TestReportsAreReadAsTheyAreWritten(t *testing.T) {
	r := odd()
	want := written(t, report.NewBandit(r, report.BanditHeader{Header: report.Header{Task: "a<b", Model: tiny},
		ArmSeeds: []uint32{1, 2}}))
	var read report.Bandit
	if err := json.Unmarshal([]byte(want), &read); err != nil {
		t.Fatal(err)
	}
	if n := read.ArmResults[1].Trajectory[2].Children.Len(); n != 3 {
		t.Errorf("read %d children, want 3", n)
	}
	if diff := cmp.Diff(want, written(t, read)); diff != "" {
		t.Errorf("(-written +written again)\n%s", diff)
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
	r := odd()
	r.Arms = r.Arms[1:]
	header := report.Header{Model: tiny}
	room := full(100)
	if err := report.Write(&room, report.NewGreedy(r, header, 1)); !errors.Is(err, errFull) {
		t.Errorf("a full disk: error %v", err)
	}
	r.Arms[0].Generations[1].Children[2].Result.Score = math.NaN()
	var unsupported *json.UnsupportedValueError
	if err := report.Write(new(bytes.Buffer), report.NewGreedy(r, header, 1)); !errors.As(err, &unsupported) {
		t.Errorf("a score that JSON does not have: error %v", err)
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
	const most = 1 << 16
	for _, n := range []int{64, 10_000} {
		var w largest
		if err := report.Write(&w, report.NewBandit(large(20_000, n))); err != nil {
			t.Fatal(err)
		}
		if w.piece > most || w.all < 100*most {
			t.Errorf("generations of %d: %d bytes, of which %d were held; want many, and at most %d held", n, w.all, w.piece,
				most)
		}
	}
}
