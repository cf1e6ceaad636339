package analyze

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// children returns rows of so many children with a program, and so many whose call failed.
func children(answered, failed int) []map[string]any {
	rows := []map[string]any{}
	for range answered {
		rows = append(rows, map[string]any{"final_status": "ok", "fitness": 0.1})
	}
	for range failed {
		rows = append(rows, map[string]any{"final_status": "timeout"})
	}
	return rows
}

// resized writes the result of a bandit over two searches with a budget of 4·8 calls, whose rounds have 1, 2, 3, ... calls,
// and reaches 0.1 more in each round than in that before.
func resized(t *testing.T, folder string, seed int) {
	t.Helper()
	arms := make([][]any, 2)
	start := map[string]any{"generation": 0, "best_fitness": 0.1}
	arms[0], arms[1] = []any{start}, []any{start}
	var selections []int
	var running []float64
	for calls, n := 0, 1; calls < 32; n++ {
		size := min(n, 32-calls)
		calls += size
		best := 0.1 + 0.1*float64(n)
		arm := n % 2
		arms[arm] = append(arms[arm], map[string]any{"generation": len(arms[arm]), "best_fitness": best, "width": size,
			"gen_time_s": 1,
			"children":   children(size, 0)})
		selections, running = append(selections, arm), append(running, best)
	}
	b, err := json.Marshal(map[string]any{"task": "cp", "model": "m", "algo": "ei", "breadth": "Sized(1..8)", "C": 32,
		"T_total": 4, "N": 8,
		"bandit_seed": seed, "stop": "budget", "selections": selections, "running_best": running,
		"arm_results": []any{map[string]any{"trajectory": arms[0]}, map[string]any{"trajectory": arms[1]}}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, fmt.Sprintf("ei_%d.json", seed)), b)
}

// fixed writes the result of a greedy search of four generations of eight, in each of which so many calls failed.
func fixed(t *testing.T, folder string, seed, failed int) {
	t.Helper()
	rows := []any{map[string]any{"generation": 0, "best_fitness": 0.1}}
	for g := 1; g <= 4; g++ {
		rows = append(rows, map[string]any{"generation": g, "best_fitness": 0.1 + 0.05*float64(g),
			"children": children(8-failed, failed)})
	}
	b, err := json.Marshal(map[string]any{"task": "cp", "model": "m", "T": 4, "N": 8, "seed": seed, "trajectory": rows})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, fmt.Sprintf("greedy_%d.json", seed)), b)
}

// A run whose generations are of any size is shown up to its end, by calls, and compared with others after as many.
func TestBreadth(t *testing.T) {
	folder := t.TempDir()
	for seed := range 3 {
		resized(t, folder, seed)
		fixed(t, folder, seed, 0)
	}
	printed, out := analyze(t, folder, "--scores", "0.65")
	for _, want := range []string{
		"ei K=2 Sized(1..8): 3 runs, 24 generations of 1 to 7 answered calls, 3 seeds",
		// 0.1 more after 1, 3, 6, 10, 15, 21, 28 and 32 calls
		"answered calls       1       2       4       8      16      32",
		"mean best  0.2000  0.2000  0.3000  0.4000  0.6000  0.9000",
		"Sized(1..8) reaches 0.65 in 3 of 3 runs: 90 % of runs have it after 21 calls, and 90 % of bootstrap means after 21 calls",
		"calls were spread over",
		"C=32: ei K=2 Sized(1..8) (n = 3) against greedy T=4 N=8 (n = 3): difference 0.6 ",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is not said", want)
		}
	}
	if strings.Contains(strings.Split(printed, "\ngreedy")[0], "N = ") || t.Failed() {
		t.Errorf("printed\n%s", printed)
	}
	for _, row := range table(t, filepath.Join(out, "cells.csv"))[1:] {
		if strings.HasPrefix(row[2], "ei") && (row[3] != "" || row[4] != "" || row[5] != row[7]) {
			t.Errorf("cells.csv has %q: T and N are no split, and C is what was answered", row)
		}
	}
}

// Where calls failed, methods are compared when as many were answered as the run with the fewest has, and what ended early
// does not stand for its budget.
func TestEqualAnsweredCalls(t *testing.T) {
	folder := t.TempDir()
	for seed := range 3 {
		resized(t, folder, seed)
		fixed(t, folder, seed, 1)
	}
	printed, _ := analyze(t, folder)
	// After 28 of 32 calls: 0.1 + 0.1·7 against 0.1 + 0.05·4.
	if want := "C=32 at 28 answered calls: ei K=2 Sized(1..8) (n = 3) against greedy T=4 N=8 (n = 3): difference 0.5 "; !strings.Contains(printed, want) {
		t.Errorf("%q is not in\n%s", want, printed)
	}
	var f map[string]any
	path := filepath.Join(folder, "ei_0.json")
	if err := json.Unmarshal(read(t, path), &f); err != nil {
		t.Fatal(err)
	}
	f["selections"], f["running_best"] = f["selections"].([]any)[:6], f["running_best"].([]any)[:6]
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, b)
	refused(t, folder, "after 21 of 32 calls")
	if printed, _ := analyze(t, folder, "--early"); !strings.Contains(printed, "(n = 2) against greedy T=4") ||
		!strings.Contains(printed, "1 budget that not every seed reached") {
		t.Errorf("with --early:\n%s", printed)
	}
}

// Lines of runs that spent unequally have, at each point, what all had when they had spent as much.
func TestRise(t *testing.T) {
	files := []file{courseOf(2, 4, 1, "greedy", 0, 1, 2, 3), courseOf(2, 4, 2, "greedy", 0, 10, 20)}
	spent := map[int64][]float64{1: {2, 2, 2}, 2: {3, 2}}
	l, err := rise(options{samples: 100}, files, func(f file) []float64 { return spent[f.Curve.Seed] })
	if err != nil {
		t.Fatal(err)
	}
	want := map[float64]float64{2: 0.5, 3: 5.5, 4: 6, 5: 11} // the second ends at 5
	for i, x := range l.X {
		if math.Abs(l.Y[i]-want[x]) > 1e-12 || len(l.X) != len(want) {
			t.Errorf("%v at %v, want %v", l.Y, l.X, want)
		}
	}
	spent[2] = []float64{3}
	if l, err = rise(options{samples: 100}, files, func(f file) []float64 { return spent[f.Curve.Seed] }); err != nil ||
		len(l.X) > 0 {
		t.Errorf("a run does not say what its last generation spent: %v, %v", l.X, err)
	}
}
