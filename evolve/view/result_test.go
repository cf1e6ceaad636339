package view

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/report"

	"github.com/evoalloc/evoalloc/llm"
)

var adderModel = llm.Model{Key: "adder", Name: "adder", ActiveParams: 1000}

// A result file shows the sums of its run, as the run's journal does.
func TestFromResult(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	r := trial{path: path, arms: 3, n: 4, rounds: 12, model: thinker, judge: opinion}
	res := r.run(t)
	var file bytes.Buffer
	header := report.Header{Task: "sum", Model: adderModel, T: 12, N: 4}
	if err := json.NewEncoder(&file).Encode(report.NewBandit(res,
		report.BanditHeader{Header: header, Algo: "ucb", Policy: "UCB1", ArmSeeds: []uint32{40, 41, 42}})); err != nil {
		t.Fatal(err)
	}
	s, err := fromResult("1", "result.json", file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	compareSums(t, s, res)
	if want := read(t, path).State(rowCursor{}); s.Status != want.Status || len(s.Ledgers) != len(want.Ledgers) {
		t.Errorf("status %q and %d ledgers, the journal's are %q and %d", s.Status, len(s.Ledgers), want.Status,
			len(want.Ledgers))
	}
	if len(s.Programs) != 0 {
		t.Errorf("%d programs of a file that holds none", len(s.Programs))
	}
}

// A result of one search is one of a bandit with one arm.
func TestFromResultOfOneSearch(t *testing.T) {
	r := trial{path: filepath.Join(t.TempDir(), "run.journal"), arms: 1, n: 5, rounds: 4}
	res := r.run(t)
	var file bytes.Buffer
	if err := json.NewEncoder(&file).Encode(report.NewGreedy(res,
		report.Header{Task: "sum", Model: adderModel, T: 4, N: 5}, 40)); err != nil {
		t.Fatal(err)
	}
	s, err := fromResult("1", "result.json", file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	compareSums(t, s, res)
}

// A result with a held-out score says it, with the gap, and one with money says what the run cost.
func TestFromResultHeldOut(t *testing.T) {
	golden, err := os.ReadFile("../testdata/greedy.json")
	if err != nil {
		t.Fatal(err)
	}
	heldOut := `{"money": 0.16, "held_out": {"score": 0.5, "searched_score": 0.75, "gap": {"mean": 0.25, "low": 0.125, "high": ` +
		`0.375}, "note": "lower than chance explains"},`
	s, err := fromResult("1", "x", []byte(strings.Replace(string(golden), "{", heldOut, 1)))
	if err != nil {
		t.Fatal(err)
	}
	f := fact(t, s, "Held out")
	const want = "the search's own score is 0.75, 0.25 more (95 % interval 0.125 to 0.375); lower than chance explains"
	if f.Value != "0.5" || f.Note != want || fact(t, s, "Money").Value != "0.16" {
		t.Errorf("held out: %q, %q, of %+v", f.Value, f.Note, s.Facts)
	}
}

// Anything but a result is an error that says so.
func TestFromResultRefuses(t *testing.T) {
	golden, err := os.ReadFile("../testdata/bandit.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, data, want string }{
		{"no JSON", "x", "no result file"},
		{"an empty file", "", "no result file"},
		{"another object", `{"a": 1}`, "no search with a trajectory"},
		{"a list", `[1]`, "no result file"},
		{"a round of a search that is not there", strings.Replace(string(golden), `"selections": [`, `"selections": [99, `,
			1), "search 99"},
		{"a round of a search below 0", strings.Replace(string(golden), `"selections": [`, `"selections": [-1, `, 1),
			"search -1"},
	} {
		if _, err := fromResult("1", "x\x1b[2J.json", []byte(tt.data)); err == nil ||
			!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v, want one with %q", tt.name, err, tt.want)
		}
	}
}
