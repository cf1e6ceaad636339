package duel_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/lab/duel"
)

// file returns the text of a file with runs of two searches, the second of which is better by one.
func file(t *testing.T, seeds int, budgets ...duel.Budget) []byte {
	t.Helper()
	var b bytes.Buffer
	rows := [][]string{duel.Columns()}
	for _, budget := range budgets {
		for seed := range uint64(seeds) {
			for i, search := range []string{"greedy-1", "other"} {
				r := compare.Run{Family: "few", Search: search, Seed: seed, Calls: 8, Evaluations: 9, FLOPs: 1e9,
					Score: float64(seed%3) + float64(i), Claimed: 2,
					Points: []compare.Point{{Calls: 1, FLOPs: 2, Score: 0.5}, {Calls: 4, FLOPs: 8, Score: 1.5}}}
				rows = append(rows, duel.Row(budget, r))
			}
		}
	}
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is written is read as it was.
func TestReadsWhatItWrites(t *testing.T) {
	b := duel.Budget{Calls: 64, FLOPs: true}
	lines, err := duel.Read(file(t, 3, b))
	if err != nil || len(lines) != 6 {
		t.Fatalf("%d runs, %v", len(lines), err)
	}
	again, err := duel.Read([]byte(strings.Join(duel.Columns(), ",") + "\n" +
		strings.Join(duel.Row(lines[3].Budget, lines[3].Run), ",")))
	if err != nil || len(again) != 1 {
		t.Fatalf("%d runs, %v", len(again), err)
	}
	if diff := cmp.Diff(lines[3], again[0]); diff != "" || lines[3].Budget != b {
		t.Errorf("budget %v; (-first +again)\n%s", lines[3].Budget, diff)
	}
}

// Each budget is a study, with the differences to the baseline and their intervals.
func TestStudies(t *testing.T) {
	studies, err := duel.Studies("runs", file(t, 5, duel.Budget{Calls: 64}, duel.Budget{Calls: 64, FLOPs: true}))
	if err != nil || len(studies) != 2 {
		t.Fatalf("%d studies, %v", len(studies), err)
	}
	s := studies[0]
	if s.Name != "runs, equal calls: 64" || len(s.Warnings) != 1 {
		t.Errorf("study %q with the warnings %q", s.Name, s.Warnings)
	}
	want := [][]string{{"greedy-1", "+0.000 ± 0.000"}, {"other", "+1.000 ± 0.000"}}
	if len(s.Tables) != 2 || s.Tables[1].Rows[1][0] != "other" || !strings.HasPrefix(s.Tables[1].Rows[1][1], want[1][1]) {
		t.Errorf("tables %v, want differences %v", s.Tables, want)
	}
}

// Other files are refused with an error that says what is wrong with them.
func TestReadRefuses(t *testing.T) {
	good := string(file(t, 1, duel.Budget{Calls: 64}))
	for _, tt := range []struct{ reason, text, want string }{
		{"another table", "a,b\n1,2\n", `"a,b"`},
		{"a seed that is no number", strings.Replace(good, "greedy-1,0", "greedy-1,x", 1), "row 2"},
		{"a budget that is no number", strings.Replace(good, ",64,", ",many,", 1), "row 2"},
		{"points that are no numbers", strings.Replace(good, "4 8 1.5", "4 8 y", 1), `"4 8 y"`},
		{"a row that is too short", good + "few,other\n", fmt.Sprint(len(strings.Split(good, "\n")))},
	} {
		if _, err := duel.Read([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want one with %s", tt.reason, err, tt.want)
		}
	}
	if _, err := duel.Studies("runs", nil); err == nil {
		t.Error("a file without runs is a study")
	}
}
