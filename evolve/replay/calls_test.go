package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

// of returns an arm of pulls of these sizes, whose score is the number of pulls.
func of(calls ...int) Arm {
	a := Arm{Name: "x", Best: make([]float64, len(calls)+1), Calls: calls}
	for i := range a.Best {
		a.Best[i] = float64(i)
	}
	return a
}

func TestSize(t *testing.T) {
	for _, tt := range []struct {
		reason string
		arms   []Arm
		want   int
	}{
		{"all have as many", []Arm{of(4, 4), of(4)}, 4},
		{"one call each", []Arm{of(1, 1), of(1)}, 1},
		{"an arm that was never pulled has no say", []Arm{of(4, 4), {Best: []float64{0}}}, 4},
		{"the budget's end cut the last", []Arm{of(4, 4, 3), of(4)}, 4},
		{"and what of it came to nothing was made up for", []Arm{of(4, 4, 2), of(4, 1)}, 4},
		{"a wider one after a narrow one is no end of a budget", []Arm{of(2, 4), of(4)}, 1},
		{"too many narrow ones for the end of a budget", []Arm{of(4, 2, 2, 2), of(4)}, 1},
		{"an arm does not say", []Arm{of(4, 4), {Best: []float64{0, 1}}}, 0},
	} {
		if got := Size(tt.arms); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.reason, got, tt.want)
		}
	}
}

// Curves are by pull where pulls have one size, and else by call: the gain of a step counts from its last call on.
func TestCurvesAreByCost(t *testing.T) {
	for _, tt := range []struct {
		reason string
		arms   []Arm
		want   string
	}{
		{"one size", []Arm{of(4, 4), of(4)}, "[[0 1 2] [0 1]]"},
		{"sizes that differ", []Arm{of(2, 1, 3), of(1)}, "[[0 0 1 2 2 2 3] [0 1]]"},
		{"no sizes", []Arm{{Best: []float64{0, 1}}}, "[[0 1]]"},
	} {
		if got := fmt.Sprint(Curves(tt.arms)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
		f := Family{Name: "x", Arms: tt.arms}
		for i := range tt.arms { // dealt out in some order
			if got := sim.Arms(f, 1, len(tt.arms), 1, 100)[i]; !strings.Contains(tt.want, fmt.Sprint(got)) {
				t.Errorf("%s: the family has %v, want one of %s", tt.reason, got, tt.want)
			}
		}
	}
}

// asked notes the calls that a policy is told.
type asked struct {
	roundRobin
	before, after *[]string
}

func (a asked) Probs(p []float64, r bandit.Round) {
	*a.before = append(*a.before, fmt.Sprint(r.Calls))
	a.roundRobin.Probs(p, r)
}

func (a asked) Update(pull bandit.Pull, _ float64) {
	*a.after = append(*a.after, fmt.Sprint(pull.Calls))
}

// A policy is told what pulls make, as it would be in a run. Where the log ends, the last pull stands for the next, and
// the first of another arm for that of an arm that was never pulled. Draws of arms whose log has ended are among those.
func TestPoliciesAreToldTheCalls(t *testing.T) {
	arms := []Arm{of(2, 5), of(2, 3, 4), {Name: "unused", Best: []float64{0}}}
	var before, after []string
	if _, err := Play(asked{before: &before, after: &after}, arms, Config{}); err != nil {
		t.Fatal(err)
	}
	if want := "[2 2 2] [5 2 2] [5 3 2] [5 3 2] [5 3 2] [5 4 2] [5 4 2] [5 4 2]"; strings.Join(before, " ") != want ||
		strings.Join(after, " ") != "2 2 5 3 4" {
		t.Errorf("told %v and then %v, want %s", before, after, want)
	}
	run := &Run{Selections: []int{0, 1, 1}, Rewards: []float64{1, 1, 2}, Propensities: []float64{1, 1, 1},
		Calls: []int{2, 2, 3}}
	before, after = nil, nil
	steps, err := Log{Arms: arms, Run: run}.Along(func() bandit.Policy { return asked{before: &before, after: &after} }, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range steps {
	}
	if want := "[2 2 2] [5 2 2] [5 3 2]"; strings.Join(before, " ") != want || strings.Join(after, " ") != "2 2 3" {
		t.Errorf("along the log told %v and then %v, want %s", before, after, want)
	}
}

func TestPlayOfCalls(t *testing.T) {
	arms := []Arm{of(2, 5), of(2, 3, 4)}
	for _, tt := range []struct{ calls, want int }{{1, 0}, {2, 1}, {8, 2}, {9, 3}, {100, 5}} {
		played, err := Play(roundRobin{}, arms, Config{Calls: tt.calls})
		if err != nil || len(played.Selections) != tt.want || len(played.Best) != tt.want+1 {
			t.Errorf("%d calls make the pulls %v, want %d: %v", tt.calls, played.Selections, tt.want, err)
		}
	}
	for _, tt := range []struct {
		calls int
		arms  []Arm
		want  string
	}{
		{-1, arms, "replay: Play of -1 calls"},
		{5, threeArms, "replay: Play of a number of calls over a log that does not say"},
		{5, []Arm{of(0)}, "replay: search x: 0 calls in generation 1"},
		{5, []Arm{{Name: "x", Best: []float64{0, 1}, Calls: []int{1, 2}}}, "replay: search x: calls of 2 pulls, of 1"},
	} {
		if _, err := Play(roundRobin{}, tt.arms, Config{Calls: tt.calls}); err == nil ||
			!strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

const breadthJSON = `{"task": "cp", "N": 64, "seed": 41, "breadth": "Doubling(up=2, down=4, 1..64)", "trajectory": [{"generation": 0, "best_fitness": 0.25},
  {"generation": 1, "best_fitness": 0.25, "width": 1}, {"generation": 2, "best_fitness": 0.5, "width": 2}, {"generation": 3, "best_fitness": 0.5, "width": 1, "partial": true}]}`

// The calls of each generation are read from its row, or from calls_per_round, and are N in files that have neither.
func TestReadCalls(t *testing.T) {
	granted := strings.Replace(paperJSON, `"rewards"`, `"calls_per_round": [2, 2, 1], "rewards"`, 1)
	unsized := strings.Replace(paperJSON, `"rewards"`, `"calls_per_round": [2, 0, 0], "rewards"`, 1)
	for _, tt := range []struct {
		reason, log string
		want        [][]int
	}{
		{"by row", breadthJSON, [][]int{{1, 2}}},
		{"N of the paper's search", greedyJSON, [][]int{{64, 64}}},
		{"N of the paper's bandit", paperJSON, [][]int{{2}, {2, 2}}},
		{"what the rounds were granted", granted, [][]int{{2}, {2, 1}}},
		{"a search that does not say", unsized, [][]int{{2}, nil}},
		{"nothing of N", strings.Replace(greedyJSON, `"N": 64, `, "", 1), [][]int{nil}},
	} {
		l := mustRead(t, tt.log)
		for i, a := range l.Arms {
			if !slices.Equal(a.Calls, tt.want[i]) || (a.Calls == nil) != (tt.want[i] == nil) {
				t.Errorf("%s: arm %d has the calls %v, want %v", tt.reason, i, a.Calls, tt.want[i])
			}
		}
	}
	if l := mustRead(t, paperJSON); !slices.Equal(l.Run.Calls, []int{2, 2, 2}) {
		t.Errorf("the rounds of the paper's bandit have the calls %v", l.Run.Calls)
	}
	for _, tt := range []struct{ log, want string }{
		{strings.Replace(breadthJSON, `, "width": 2`, "", 1),
			"replay: seed 41: generation 2 has no width, and with breadth Doubling(up=2, down=4, 1..64)"},
		{strings.Replace(granted, "[2, 2, 1]", "[2, 2]", 1), "replay: 3 selections and calls of 2"},
		{strings.Replace(granted, "[2, 2, 1]", "[2, -2, 1]", 1), "replay: round 1 was granted -2 calls"},
		{strings.Replace(greedyJSON, `"N": 64`, `"N": 1000000`, 1), "replay: search seed 41: 1000000 calls in generation 1"},
	} {
		if _, err := readString(tt.log); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

// Searches of different breadths are not arms of one kind.
func TestReadFilesOfABreadth(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")}
	for i, text := range []string{breadthJSON, greedyJSON} {
		if err := os.WriteFile(paths[i], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadFiles(paths...); err == nil || !strings.Contains(err.Error(),
		`b.json is of task "cp" with N=64, the first file of "cp" with N=64 and breadth Doubling`) {
		t.Error(err)
	}
	if l, err := ReadFiles(paths[0], paths[0]); err != nil || l.Breadth == "" || len(Curves(l.Arms)[1]) != 4 {
		t.Errorf("%+v, %v", l, err)
	}
}
