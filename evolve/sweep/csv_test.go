package sweep_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/llm"
)

// table reads runs.csv: a map by column for each row.
func table(t *testing.T, dir string) (columns []string, rows []map[string]string) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "runs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = fields[i]
		}
		rows = append(rows, row)
	}
	return all[0], rows
}

// runs.csv has a row for each run and generation, with what the results have.
func TestCSV(t *testing.T) {
	p, dir := mixed(2), t.TempDir()
	inner := p.Models[0].LLM
	p.Models[0].Spec.Price = &llm.Price{Prompt: 1e6, Completion: 2e6} // 1 and 2 for a token
	p.Models[0].LLM = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		r, err := inner.Generate(ctx, req)
		r.Attempts[0].Usage = &llm.Usage{PromptTokens: 10, CachedTokens: 4, CompletionTokens: 5}
		return r, err
	})
	made(t, p, sweep.Config{Dir: dir})
	columns, rows := table(t, dir)
	page, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range columns {
		if !strings.Contains(string(page), "- `"+name+"`:") && !strings.Contains(string(page), "`"+name+"`,") &&
			!strings.Contains(string(page), ", `"+name+"`") {
			t.Errorf("docs/reference.md does not describe the column %s", name)
		}
	}
	at := 0
	for _, r := range p.Runs() {
		result, err := analysis.ReadFile(filepath.Join(dir, r.Path(".json")))
		if err != nil {
			t.Fatal(err)
		}
		for g := range r.T + 1 {
			got := rows[at]
			at++
			calls := result.AnsweredBy(g)
			// The fake costs 10 − 4 cached at 1, cached at 0, and 5 at 2: 16 a call; and 2 FLOPs a parameter and token.
			for name, want := range map[string]any{
				"task": "pi", "model": "guess", "method": r.Method, "N": r.N, "arms": r.Arms, "T": r.T, "seed": r.Seed,
				"generation": g,
				"best":       result.Best[g], "calls": calls, "attempts": calls, "prompt_tokens": 10 * calls,
				"cached_tokens":     4 * calls,
				"completion_tokens": 5 * calls,
				"cost":              16 * calls, "flops": float64(calls) * 2e9 * 11, "stop": result.Stop, "partial": false,
				"made_again": 0,
			} {
				if got[name] != fmt.Sprint(want) && !sameNumber(got[name], want) {
					t.Fatalf("%v, generation %d: %s is %s, want %v", r, g, name, got[name], want)
				}
			}
			if g > 0 && got["children"] != fmt.Sprint(r.N) {
				t.Errorf("%v, generation %d: %s children", r, g, got["children"])
			}
		}
	}
	if at != len(rows) {
		t.Errorf("%d rows, want %d", len(rows), at)
	}
}

func sameNumber(text string, want any) bool {
	v, err := strconv.ParseFloat(text, 64)
	w, err2 := strconv.ParseFloat(fmt.Sprint(want), 64)
	return err == nil && err2 == nil && v == w
}

// A stopped sweep has the rows of the runs that are over.
func TestCSVOfAStoppedSweep(t *testing.T) {
	p, dir := mixed(3), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := map[string]bool{}
	r, err := p.Run(ctx, sweep.Config{Dir: dir, AtOnce: 2, Observer: func(e sweep.Event) {
		if e.Kind == sweep.EventEnd {
			ended[fmt.Sprint(e.Run.Method, e.Run.N, e.Run.T, e.Run.Seed)] = true
			if len(ended) == 3 {
				cancel()
			}
		}
	}})
	if err != nil || r.Left == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	_, rows := table(t, dir)
	has := map[string]bool{}
	for _, row := range rows {
		has[row["method"]+row["N"]+" "+row["T"]+" "+row["seed"]] = true
	}
	if len(has) != len(ended) {
		t.Errorf("rows of %v, ended are %v", has, ended)
	}
}

// Results of the paper's code count as cells, in the table and in the scores.
func TestRead(t *testing.T) {
	dir, from := t.TempDir(), t.TempDir()
	greedy := filepath.Join(from, "greedy.json")
	bandit := filepath.Join(from, "bandit.json")
	write(t, greedy, `{"task": "pi", "model": "theirs", "C": 24, "T": 4, "N": 6, "seed": 40, "final_fitness": 0.9, "trajectory": [
		{"generation": 0, "best_fitness": 0.1}, {"generation": 1, "best_fitness": 0.5, "n_children": 6}, {"generation": 2, "best_fitness": 0.6, "n_children": 6},
		{"generation": 3, "best_fitness": 0.6, "n_children": 6}, {"generation": 4, "best_fitness": 0.9, "n_children": 6}]}`)
	write(t, bandit, `{"task": "pi", "model": "theirs", "algo": "ucb", "C": 24, "T_total": 2, "N": 12, "n_arms": 2, "bandit_seed": 0, "selections": [0, 1], "running_best": [0.3, 0.7],
		"arm_results": [{"trajectory": [{"generation": 0, "best_fitness": 0.1}, {"generation": 1, "best_fitness": 0.3, "n_children": 12}]},
		{"trajectory": [{"generation": 0, "best_fitness": 0.1}, {"generation": 1, "best_fitness": 0.7, "n_children": 12}]}]}`)
	p := grid(1, []int{12, 24}, sweep.Greedy(6))
	r := made(t, p, sweep.Config{Dir: dir, Read: []string{greedy, bandit}})
	got := map[string]float64{}
	for _, s := range r.Scores {
		if s.Model == "theirs" {
			got[fmt.Sprintf("%s %d", s.Method, s.Calls())] = s.Best
		}
	}
	if want := map[string]float64{"greedy 12": 0.6, "greedy 24": 0.9, "ucb 24": 0.7}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("scores %v, want %v", got, want)
	}
	_, rows := table(t, dir)
	best := map[string]string{}
	for _, row := range rows {
		if row["model"] == "theirs" {
			best[row["method"]+row["generation"]] = row["best"] + " after " + row["calls"]
		}
	}
	if len(best) != 5+3 || best["greedy2"] != "0.6 after 12" || best["ucb2"] != "0.7 after 24" {
		t.Errorf("rows %v", best)
	}
	if _, err := p.Run(t.Context(), sweep.Config{Dir: dir, Read: []string{greedy, greedy}}); err == nil ||
		!strings.Contains(err.Error(), "leave one out") {
		t.Errorf("one run twice: %v", err)
	}
	if _, err := p.Run(t.Context(), sweep.Config{Dir: dir,
		Read: []string{filepath.Join(dir, p.Runs()[0].Path(".json"))}}); err == nil ||
		!strings.Contains(err.Error(), "which the plan has too") {
		t.Errorf("a run of the plan: %v", err)
	}
}

// A seed counts once: a run that was read may be the beginning of one of the plan, or have one of its cells.
func TestReadOfWhatThePlanHas(t *testing.T) {
	earlier := t.TempDir()
	p := grid(1, []int{12, 24}, sweep.Greedy(6))
	made(t, p, sweep.Config{Dir: earlier})
	file := filepath.Join(earlier, p.Runs()[0].Path(".json"))
	for _, budgets := range [][]int{{12, 48}, {12}} {
		_, err := grid(1, budgets, sweep.Greedy(6)).Run(t.Context(), sweep.Config{Dir: t.TempDir(), Read: []string{file}})
		if err == nil || !strings.Contains(err.Error(), "leave one out") {
			t.Errorf("with budgets of %v its cell of 12 calls counts twice: %v", budgets, err)
		}
	}
	r := made(t, grid(1, []int{24, 48}, sweep.Greedy(12)), sweep.Config{Dir: t.TempDir(), Read: []string{file}})
	if len(r.Scores) != 3 {
		t.Errorf("%d scores of a plan's two cells and one that was read", len(r.Scores))
	}
}

// Runs that were read and are of other methods than the plan's have other names: bandits over more searches, and greedy
// searches that take ties.
func TestReadOfOtherMethods(t *testing.T) {
	from := t.TempDir()
	const rows = `"trajectory": [{"generation": 0, "best_fitness": 0.1}, {"generation": 1, "best_fitness": 0.5, "n_children": 12}]`
	bandit := `"algo": "ucb", "T_total": 1, "bandit_seed": 3, "selections": [0], "running_best": [0.5], "stop": "budget", "arm_results": [{` + rows + `}`
	var files []string
	for i, of := range []string{bandit + `, {` + rows + `}]`, bandit + `, {` + rows + `}, {` + rows + `}]`,
		`"seed": 5, "ties": "taken", ` + rows} {
		files = append(files, filepath.Join(from, fmt.Sprint(i, ".json")))
		write(t, files[i], `{"task": "pi", "model": "guess", "T": 1, "N": 12, `+of+`}`)
	}
	dir := t.TempDir()
	r := made(t, grid(1, []int{12}, sweep.Greedy(12), sweep.Bandit("ucb", 12, 3, ucb)),
		sweep.Config{Dir: dir, Read: files})
	got := map[string]int{}
	for _, s := range r.Scores {
		got[s.Method]++
	}
	if want := map[string]int{"greedy": 1, "greedy, ties taken": 1, "ucb": 2,
		"ucb K=2": 1}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("scores of %v, want %v", got, want)
	}
	for _, order := range [][]string{{files[0], files[1]}, {files[1], files[0]}} {
		r := made(t, grid(1, []int{12}, sweep.Greedy(12)), sweep.Config{Dir: t.TempDir(), Read: order})
		got := map[string]int{}
		for _, s := range r.Scores {
			got[s.Method]++
		}
		if want := map[string]int{"greedy": 1, "ucb K=2": 1, "ucb K=3": 1}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("without a bandit in the plan, scores of %v, want %v", got, want)
		}
	}
	_, all := table(t, dir)
	for _, row := range all[:2] {
		if row["flops"] != "" || row["cost"] != "" || row["seconds"] != "" || row["score"] != "" || row["best"] == "" ||
			row["stop"] != "budget" {
			t.Errorf("of a run that was read: %v", row)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What a file names its search and its model is anybody's text. It is no number of searches, and no formula of a
// spreadsheet.
func TestReadOfHostileFiles(t *testing.T) {
	from := t.TempDir()
	const rows = `"trajectory": [{"generation": 0, "best_fitness": 0.1}, {"generation": 1, "best_fitness": 0.5, "n_children": 12}]`
	for i, tt := range []struct{ why, file, method string }{
		{"a search whose name ends as a bandit's", `"seed": 1, "search": "x K=4000000000000", ` + rows, "x K=4000000000000"},
		{"a search with searches below 0", `"seed": 2, "search": "x K=-7", ` + rows, "x K=-7"},
		{"a bandit whose name does so, too",
			`"algo": "x K=9", "T_total": 1, "bandit_seed": 3, "selections": [0], "running_best": [0.5], "arm_results": [{` +
				rows + `}, {` + rows + `}]`, "x K=9"},
		{"a formula", `"seed": 4, "search": "=1+1", ` + rows, "'=1+1"},
	} {
		file := filepath.Join(from, fmt.Sprint(i, ".json"))
		write(t, file, `{"task": "pi", "model": "theirs", "T": 1, "N": 12, `+tt.file+`}`)
		dir := t.TempDir()
		made(t, grid(1, []int{12}, sweep.Greedy(6)), sweep.Config{Dir: dir, Read: []string{file}})
		_, rows := table(t, dir)
		if got := rows[0]["method"]; rows[0]["model"] != "theirs" || got != tt.method {
			t.Errorf("%s: the method is %q, want %q", tt.why, got, tt.method)
		}
	}
	for _, seed := range []string{"-1", "4294967336"} { // 2³² + 40 would be taken for seed 40
		file := filepath.Join(from, "seed"+seed+".json")
		write(t, file, `{"task": "pi", "model": "theirs", "T": 1, "N": 12, "seed": `+seed+`, `+rows+`}`)
		if _, err := grid(1, []int{12}, sweep.Greedy(6)).Run(t.Context(),
			sweep.Config{Dir: t.TempDir(), Read: []string{file}}); err == nil || !strings.Contains(err.Error(), "seed "+seed) {
			t.Errorf("seed %s: %v, want an error that names it", seed, err)
		}
	}
}
