package policies

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tables runs the command and returns the rows of each of its tables by their first word.
func tables(t *testing.T, args ...string) []map[string]string {
	t.Helper()
	var out strings.Builder
	if err := Run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for line := range strings.Lines(out.String()) {
		row, isRow := strings.CutPrefix(line, "  ")
		name, rest, _ := strings.Cut(row, " ")
		switch {
		case name == "policy":
			all = append(all, map[string]string{})
		case isRow:
			all[len(all)-1][name] = strings.TrimSpace(rest)
		}
	}
	return all
}

// Where searches differ an allocation ends above one search, and where they do not even chances end far below it.
func TestSimulatedArms(t *testing.T) {
	got := tables(t, "--policies", "one,ei,random", "--families", "plateaus,exchangeable", "--T", "256", "--runs", "60")
	if len(got) != 1 || len(got[0]) != 3 {
		t.Fatalf("%d tables, %v", len(got), got)
	}
	if row := got[0]["one"]; !strings.HasPrefix(row, "0.000 [0.000, 0.000]") {
		t.Errorf("one search above itself: %q", row)
	}
	if row := got[0]["random"]; !strings.HasSuffix(row, "exchangeable") || !strings.HasPrefix(row, "-") {
		t.Errorf("even chances: %q, want a loss, the worst where arms do not differ", row)
	}
	if alone := tables(t, "--policies", "one,ei", "--families", "plateaus", "--runs", "60")[0]["ei"]; alone[0] == '-' ||
		strings.HasPrefix(alone, "0.000") {
		t.Errorf("ei where most searches stop: %q, want a gain", alone)
	}
}

// write writes result files of greedy searches whose best scores are given, and returns their paths.
func write(t *testing.T, searches ...[]float64) (paths []string) {
	t.Helper()
	for i, best := range searches {
		var rows []string
		for n, v := range best {
			rows = append(rows, fmt.Sprintf(`{"generation": %d, "best_fitness": %v, "width": 2}`, n, v))
		}
		path := filepath.Join(t.TempDir(), "greedy.json")
		text := fmt.Sprintf(`{"task": "cp", "seed": %d, "trajectory": [%s]}`, i, strings.Join(rows, ", "))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// Three logged searches, of which one rises. With six calls, which are three pulls of two, dealing out reaches its
// first step in each order, and one search reaches its third if it comes first.
func TestLoggedSearches(t *testing.T) {
	paths := write(t, []float64{0, 0, 0, 0}, []float64{0, 0.2, 0.4, 1}, []float64{0, 0, 0, 0})
	got := tables(t, append([]string{"--policies", "one,ucb", "--T", "6", "--runs", "40", "--logs"}, paths...)...)
	if len(got) != 1 || !strings.HasPrefix(got[0]["ucb"], "0.200 [0.200, 0.200]") {
		t.Errorf("%v, want 0.2 of UCB1, which begins every search", got)
	}
	if row := got[0]["one"]; !strings.HasPrefix(row, "0.") || strings.HasPrefix(row, "0.200") || strings.HasPrefix(row, "0.000") {
		t.Errorf("one search: %q, want about a third", row)
	}
}

// Lists of scores by arm: of two groups, one has a search that finds 0.8 with its second call and one that finds nothing,
// the other two alike. One alone has the mean of its group, and the best in hindsight the best of it.
func TestGroupsOfScores(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores.json")
	if err := os.WriteFile(path, []byte(`{"groups": {"a": [[null, 0.8, 0.1], [null, null, null]],
		"b": [[0.2, 0.1, 0.3], [0.2, 0.1, 0.3]]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := tables(t, "--policies", "one,ucb", "--T", "2", "--runs", "200", "--logs", path)
	if len(got) != 1 || !strings.HasPrefix(got[0]["hindsight"], "0.500 [") {
		t.Errorf("%v, want 0.5 in hindsight, the mean of 0.8 and 0.2", got)
	}
	// One search has 0.2 in the one group and 0.8 in half of the runs of the other; UCB1 pulls both once.
	if one := got[0]["one"]; one < "0.27" || one > "0.33" {
		t.Errorf("one search: %q, want about 0.3", one)
	}
	if !strings.HasPrefix(got[0]["ucb"], "0.100 [0.000, 0.200]") {
		t.Errorf("UCB1: %q, want 0.1, the mean of 0 and 0.2", got[0]["ucb"])
	}
}

// A bandit's file has propensities, so what other policies would have earned in its rounds is shown too.
func TestEstimates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bandit.json")
	if err := os.WriteFile(path, []byte(`{"task": "cp", "algo": "random", "bandit_seed": 7, "N": 1,
		"selections": [0, 1, 1, 0], "rewards": [0.3, 0.4, 0.6, 0.3], "propensities": [0.5, 0.5, 0.5, 0.5], "arm_results": [
		{"seed": 40, "trajectory": [{"generation": 0, "best_fitness": 0.3}, {"generation": 1, "best_fitness": 0.3},
			{"generation": 2, "best_fitness": 0.3}]},
		{"seed": 41, "trajectory": [{"generation": 0, "best_fitness": 0.3}, {"generation": 1, "best_fitness": 0.4},
			{"generation": 2, "best_fitness": 0.6}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := tables(t, "--policies", "one,random", "--runs", "10", "--logs", path)
	if len(got) != 2 || len(got[1]) != 1 || !strings.HasPrefix(got[1]["random"], "0.4 [") ||
		!strings.Contains(got[1]["random"], "effective steps") {
		t.Errorf("%v, want a second table in which random has the log's mean of 0.4, from too few steps", got)
	}
}

func TestErrors(t *testing.T) {
	two := append(write(t, []float64{0, 1}), filepath.Join(t.TempDir(), "none.json"))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--policies", "one,swamp"}, `--policies: unknown "swamp": it is one of one, challenge, `},
		{[]string{"--families", "swamp"}, `--families: unknown "swamp": it is one of heavy-tail, `},
		{[]string{"--K", "0"}, "policies: --K 0 --T 512 --runs 50: need at least 1 of each"},
		{append([]string{"--logs"}, two...), "--logs: replay: open "},
	} {
		if err := Run(t.Context(), tt.args, &strings.Builder{}); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.args, err, tt.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ended, []string{"--logs", two[0]}, &strings.Builder{}); err != context.Canceled {
		t.Errorf("stopped: %v", err)
	}
}
