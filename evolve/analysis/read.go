package analysis

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// The reader is here and not in evolve/report because it needs a tenth of a result's fields and none of the packages
// that make results: analysis of files compiles without the searches. It takes the paper's own files too, which lack
// what evolve/report adds.

// A resultJSON is the part of a result file that is analysed.
type resultJSON struct {
	Task       string    `json:"task"`
	Model      string    `json:"model"`
	Breadth    string    `json:"breadth"`
	T          int       `json:"T"`
	N          int       `json:"N"`
	Seed       int64     `json:"seed"`
	Search     string    `json:"search"` // "" for a greedy one
	Stop       string    `json:"stop"`
	Trajectory []rowJSON `json:"trajectory"`
	// of a bandit
	Algo       string      `json:"algo"`
	Total      int         `json:"T_total"`
	BanditSeed json.Number `json:"bandit_seed"`
	Selections []int       `json:"selections"`
	Running    []float64   `json:"running_best"`
	Arms       []armJSON   `json:"arm_results"`
	Searches   []string    `json:"arm_searches"` // of each arm; nil if all are greedy
}

type armJSON struct {
	Trajectory []rowJSON `json:"trajectory"`
}

// A rowJSON is one generation.
type rowJSON struct {
	Generation int         `json:"generation"`
	Best       *float64    `json:"best_fitness"`
	Count      *int        `json:"n_children"`
	Children   []calledRow `json:"children"`
	Asides     []calledRow `json:"asides"`
	Partial    bool        `json:"partial"`
}

// A calledRow is a child or another call.
type calledRow struct {
	Status  *string  `json:"final_status"` // "" of a child that was made without a model
	Fitness *float64 `json:"fitness"`      // null without a program
}

// answered reports whether a model answered. Without a status a program tells that one did.
func (c calledRow) answered() bool {
	if c.Status == nil {
		return c.Fitness != nil
	}
	return *c.Status == "ok"
}

// ReadFile reads the run in a result file as [Read] does.
func ReadFile(path string) (Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return Run{}, fmt.Errorf("analysis: %w", err)
	}
	defer f.Close()
	r, err := Read(f)
	if err != nil {
		return Run{}, fmt.Errorf("%w, in %s", err, path)
	}
	r.From = path
	return r, nil
}

// Read reads a run from a result file of this library or of the BaSE paper's code, greedy or bandit
// (docs/reference.md). An answered call is a child or an aside whose final status is "ok", or one with a program in a
// file without statuses; where a file has no rows of children, n_children counts. The best score of a generation is
// that of it and all before. Read returns an error if the file is not a result, or lacks a field that is needed.
func Read(from io.Reader) (Run, error) {
	var f resultJSON
	if err := json.NewDecoder(from).Decode(&f); err != nil {
		if errors.Is(err, io.EOF) {
			return Run{}, errors.New("analysis: the result is empty")
		}
		return Run{}, fmt.Errorf("analysis: not a result: %w", err)
	}
	var r Run
	var err error
	if f.Arms != nil {
		r, err = f.bandit()
	} else {
		r, err = f.greedy()
	}
	if err != nil {
		return Run{}, err
	}
	return r, r.validate()
}

// method returns a name with what else decides how the budget is spent: the breadth, and which kinds of searches the
// arms of a bandit are, unless all are greedy.
func (f resultJSON) method(name string) string {
	if f.Breadth != "" {
		name += " " + f.Breadth
	}
	if kinds := slices.Compact(slices.Sorted(slices.Values(f.Searches))); len(kinds) > 0 {
		name += " of " + strings.Join(kinds, ", ")
	}
	return name
}

// greedy returns the run of a file of one search.
func (f resultJSON) greedy() (Run, error) {
	r := Run{Task: f.Task, Model: f.Model, Method: f.method(cmp.Or(f.Search, "greedy")), T: f.T, N: f.N, Breadth: f.Breadth, Seed: f.Seed, Stop: f.Stop}
	for i, row := range f.Trajectory {
		switch {
		case row.Generation != i:
			return r, fmt.Errorf("analysis: generation %d in row %d of the trajectory", row.Generation, i)
		case row.Best == nil:
			return r, fmt.Errorf("analysis: generation %d has no best_fitness", i)
		}
		best := *row.Best
		if i > 0 {
			best = max(best, r.Best[i-1])
		}
		r.Best = append(r.Best, best)
		r.Answered = append(r.Answered, row.answered(i, f.N))
		r.Partial = row.Partial
	}
	return r, nil
}

// bandit returns the run of a file of several searches.
func (f resultJSON) bandit() (Run, error) {
	r := Run{Task: f.Task, Model: f.Model, Method: f.method(fmt.Sprintf("%s K=%d", f.Algo, len(f.Arms))), T: f.Total, N: f.N, Breadth: f.Breadth,
		Arms: len(f.Arms), Stop: f.Stop}
	seed, err := f.BanditSeed.Int64()
	if err != nil {
		return r, fmt.Errorf("analysis: bandit_seed %q: need a whole number", f.BanditSeed)
	}
	if len(f.Running) != len(f.Selections) {
		return r, fmt.Errorf("analysis: %d selections and a running_best of %d rounds", len(f.Selections), len(f.Running))
	}
	r.Seed = seed
	if err := f.start(&r); err != nil {
		return r, err
	}
	pulls := make([]int, len(f.Arms))
	for i, arm := range f.Selections {
		if arm < 0 || arm >= len(f.Arms) {
			return r, fmt.Errorf("analysis: round %d pulls arm %d of %d", i, arm, len(f.Arms))
		}
		pulls[arm]++
		rows, calls := f.Arms[arm].Trajectory, 0
		if pulls[arm] < len(rows) {
			calls = rows[pulls[arm]].answered(pulls[arm], f.N)
			r.Partial = r.Partial || rows[pulls[arm]].Partial
		}
		r.Best = append(r.Best, max(r.Best[i], f.Running[i]))
		r.Answered = append(r.Answered, calls)
	}
	return r, nil
}

// start begins the run with the best of the arms' initial programs.
func (f resultJSON) start(r *Run) error {
	calls := 0
	for i, arm := range f.Arms {
		if len(arm.Trajectory) == 0 || arm.Trajectory[0].Best == nil {
			return fmt.Errorf("analysis: arm %d has no score to start from", i)
		}
		row := arm.Trajectory[0]
		calls += row.answered(0, f.N)
		if i == 0 {
			r.Best = []float64{*row.Best}
		}
		r.Best[0] = max(r.Best[0], *row.Best)
	}
	r.Answered = []int{calls}
	return nil
}

// answered returns how many calls of generation g brought an answer.
func (row rowJSON) answered(g, n int) int {
	sum := countAnswered(row.Asides)
	switch {
	case g == 0:
		return sum
	case row.Children != nil:
		return sum + countAnswered(row.Children)
	case row.Count != nil:
		return sum + *row.Count
	}
	return sum + n
}

func countAnswered(calls []calledRow) int {
	n := 0
	for _, c := range calls {
		if c.answered() {
			n++
		}
	}
	return n
}
