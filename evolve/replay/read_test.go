package replay

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const greedyJSON = `{"task": "cp", "model": "qwen3-8b", "N": 64, "seed": 41, "final_fitness": 0.5, "flops": {"worst_case": {}},
 "trajectory": [{"generation": 0, "best_fitness": 0.25, "n_children": 0, "children": []},
  {"generation": 1, "best_fitness": 0.25, "parent_fitness": 0.25, "children": [{"idx": 0, "fitness": null}]},
  {"generation": 2, "best_fitness": 0.5, "parent_fitness": 0.25, "children": []}]}`

// A bandit's result in the form of the paper's code: without what this library adds.
const paperJSON = `{"task": "cp", "model": "qwen3-8b", "algo": "ucb", "C": 6, "T_total": 3, "N": 2, "n_arms": 2, "arm_seeds": [40, 41], "bandit_seed": 5,
 "selections": [0, 1, 1], "rewards": [0.3, 0.2, 0.6], "running_best": [0.3, 0.3, 0.6],
 "arm_results": [{"seed": 40, "trajectory": [{"generation": 0, "best_fitness": 0.2}, {"generation": 1, "best_fitness": 0.3}]},
  {"seed": 41, "trajectory": [{"generation": 0, "best_fitness": 0.2}, {"generation": 1, "best_fitness": 0.2}, {"generation": 2, "best_fitness": 0.6}]}]}`

func readString(s string) (Log, error) { return Read(strings.NewReader(s)) }

func mustRead(t *testing.T, s string) Log {
	t.Helper()
	l, err := readString(s)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestReadGreedy(t *testing.T) {
	l := mustRead(t, " \n"+greedyJSON)
	if l.Task != "cp" || l.Run != nil || len(l.Arms) != 1 {
		t.Errorf("read %+v", l)
	}
	if a := l.Arms[0]; a.Name != "seed 41" || !slices.Equal(a.Best, []float64{0.25, 0.25, 0.5}) || a.Pulls() != 2 ||
		a.Reward(2) != 0.5 {
		t.Errorf("read %+v", a)
	}
}

func TestReadThePapersBandit(t *testing.T) {
	l := mustRead(t, paperJSON)
	if r := l.Run; r.Algo != "ucb" || r.Seed != 5 || r.Propensities != nil ||
		!slices.Equal(r.Selections, []int{0, 1, 1}) || !slices.Equal(r.Rewards, []float64{0.3, 0.2, 0.6}) {
		t.Errorf("read %+v", r)
	}
	if len(l.Arms) != 2 || !slices.Equal(l.Arms[1].Best, []float64{0.2, 0.2, 0.6}) ||
		!slices.Equal(l.Arms[1].Rewards, []float64{0.2, 0.6}) {
		t.Errorf("read %+v", l.Arms)
	}
}

// The calls of each generation are read from its row, and are N where rows do not say. One that was cut short is left
// out.
func TestReadCalls(t *testing.T) {
	const wide = `{"task": "cp", "N": 64, "trajectory": [{"generation": 0, "best_fitness": 0.25},
  {"generation": 1, "best_fitness": 0.25, "width": 1}, {"generation": 2, "best_fitness": 0.5, "width": 2},
  {"generation": 3, "best_fitness": 0.5, "width": 1, "partial": true}]}`
	for _, tt := range []struct {
		reason, log string
		want        [][]int
	}{
		{"by row", wide, [][]int{{1, 2}}},
		{"N of the paper's search", greedyJSON, [][]int{{64, 64}}},
		{"N of the paper's bandit", paperJSON, [][]int{{2}, {2, 2}}},
		{"nothing of N", strings.Replace(greedyJSON, `"N": 64, `, "", 1), [][]int{{1, 1}}},
	} {
		for i, a := range mustRead(t, tt.log).Arms {
			if !slices.Equal(a.Calls, tt.want[i]) {
				t.Errorf("%s: arm %d has the calls %v, want %v", tt.reason, i, a.Calls, tt.want[i])
			}
		}
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ why, log, want string }{
		{"nothing", " \n", "replay: the result is empty"},
		{"not JSON after all", "{oops", "replay: not a result: "},
		{"cut off", greedyJSON[:200], "replay: not a result: "},
		{"Python writes NaN", `{"trajectory": [{"generation": 0, "best_fitness": NaN}]}`, "replay: not a result: "},
		{"another JSON", `{"a": 1}`, "replay: search seed 0 has no score to start from"},
		{"no arm", `{"arm_results": []}`, "replay: the log has no search"},
		{"a score that is null", `{"seed": 4, "trajectory": [{"generation": 0, "best_fitness": null}]}`,
			"replay: seed 4: generation 0 has no best_fitness"},
		{"a gap", `{"seed": 4, "trajectory": [{"generation": 0, "best_fitness": 0}, {"generation": 2, "best_fitness": 0}]}`,
			"replay: seed 4: generation 2 in row 1"},
		{"an arm that there is not", strings.Replace(paperJSON, "[0, 1, 1]", "[0, 1, 2]", 1),
			"replay: round 2 pulls arm 2 of 2"},
		{"a negative arm", strings.Replace(paperJSON, "[0, 1, 1]", "[0, 1, -1]", 1), "replay: round 2 pulls arm -1 of 2"},
		{"a reward short", strings.Replace(paperJSON, "[0.3, 0.2, 0.6]", "[0.3, 0.2]", 1),
			"replay: 3 selections and 2 rewards"},
		{"a propensity short", strings.Replace(paperJSON, `"rewards"`, `"propensities": [1, 1], "rewards"`, 1),
			"replay: 3 selections and 2 propensities"},
		{"a propensity of 0", strings.Replace(paperJSON, `"rewards"`, `"propensities": [1, 0, 1], "rewards"`, 1),
			"replay: round 1 has propensity 0"},
		{"generations that no round pulled", strings.Replace(paperJSON, "[0, 1, 1]", "[0, 1, 0]", 1),
			"replay: arm 1 has 2 generations, but was selected in 1"},
		{"a seed that is no number", strings.Replace(paperJSON, `"bandit_seed": 5`, `"bandit_seed": 5.5`, 1),
			"replay: not a result: bandit_seed 5.5"},
		{"a negative width", strings.Replace(greedyJSON, `"N": 64`, `"N": -64`, 1),
			"replay: search seed 41: -64 calls in generation 1"},
		{"a log of another kind", "generation,40\n0,1\n", "replay: not a result: "},
	} {
		if _, err := readString(c.log); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
}

func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, two := write("one.json", greedyJSON), write("two.json", greedyJSON)
	other := write("other.json", strings.Replace(greedyJSON, `"cp"`, `"ht"`, 1))
	bandit := write("bandit.json", strings.Replace(paperJSON, `"N": 2`, `"N": 64`, 1))
	l, err := ReadFiles(one, two, bandit)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range l.Arms {
		names = append(names, a.Name)
		if a.Rewards != nil {
			t.Errorf("%s keeps the rewards of a run that is not kept", a.Name)
		}
	}
	if want := []string{"seed 41", "seed 41 of two.json", "seed 40", "seed 41 of bandit.json"}; !slices.Equal(names,
		want) || l.Run != nil {
		t.Errorf("searches %q, run %v, want %q and none", names, l.Run, want)
	}
	if l, err := ReadFiles(bandit); err != nil || l.Run == nil {
		t.Errorf("one bandit's file: %+v, %v", l, err)
	}
	if _, err := ReadFiles(one, other); err == nil || !strings.Contains(err.Error(), "other.json is of task \"ht\"") {
		t.Errorf("two tasks: %v", err)
	}
	if _, err := ReadFiles(one, filepath.Join(dir, "none.json")); err == nil ||
		!strings.HasPrefix(err.Error(), "replay: ") {
		t.Errorf("no such file: %v", err)
	}
	if _, err := ReadFiles(write("bad.json", "{")); err == nil ||
		!strings.HasSuffix(err.Error(), ", in bad.json") {
		t.Errorf("a bad file: %v", err)
	}
}

// Whatever a file holds, reading it ends with a log that can be played, or with an error.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{greedyJSON, paperJSON} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := readString(s)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "replay: ") {
				t.Errorf("error %v", err)
			}
			return
		}
		if err := l.validate(); err != nil {
			t.Fatal(err)
		}
		played, err := Play(roundRobin{}, l.Arms, Config{Rounds: 50})
		if err != nil || len(played.Best) != len(played.Selections)+1 {
			t.Fatalf("%+v, %v", played, err)
		}
	})
}

// Scores by arm are the best so far from 0, where null is a child without a score; a result file has no groups.
func TestReadScores(t *testing.T) {
	for text, want := range map[string][][]float64{
		`{"groups": {"b": [[0.1]], "a": [[null, 0.5, 0.4], []]}}`: {{0, 0, 0.5, 0.5}, {0}, {0, 0.1}},
		greedyJSON: nil,
	} {
		path := filepath.Join(t.TempDir(), "scores.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		groups, err := ReadScores(path)
		if err != nil {
			t.Fatal(err)
		}
		var got [][]float64
		for _, l := range groups {
			for _, a := range l.Arms {
				got = append(got, a.Best)
			}
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if _, err := ReadScores(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("no error of a file that is not there")
	}
}
