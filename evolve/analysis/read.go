package analysis

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/internal/resultfile"
)

// A file is a result file. It is not read with evolve/report, so that analysis compiles without the searches.
type file struct{ *resultfile.File }

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
	read, err := resultfile.Read(from)
	if err != nil {
		return Run{}, fmt.Errorf("analysis: %w", err)
	}
	f := file{read}
	var r Run
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

// method returns a name with everything else that decides how the budget is spent: the breadth, and the kinds of a
// bandit's searches, unless all are greedy.
func (f file) method(name string) string {
	if f.Breadth != "" {
		name += " " + f.Breadth
	}
	if kinds := slices.Compact(slices.Sorted(slices.Values(f.Searches))); len(kinds) > 0 {
		name += " of " + strings.Join(kinds, ", ")
	}
	return name
}

// greedy returns the run of a file of one search.
func (f file) greedy() (Run, error) {
	r := Run{Task: f.Task, Model: f.Model, Method: f.method(cmp.Or(f.Search, "greedy")), T: f.T, N: f.N,
		Breadth: f.Breadth, Ties: f.Ties, Seed: f.Seed, Stop: f.Stop}
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
		if i == 0 {
			r.Answered = append(r.Answered, row.Before())
		} else {
			r.Answered = append(r.Answered, row.Answered(f.N))
		}
		r.Partial = row.Partial
	}
	return r, nil
}

// bandit returns the run of a file of several searches.
func (f file) bandit() (Run, error) {
	r := Run{Task: f.Task, Model: f.Model, Method: f.method(fmt.Sprintf("%s K=%d", f.Algo, len(f.Arms))), T: f.Total,
		N: f.N, Breadth: f.Breadth, Ties: f.Ties,
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
	i := 0
	for arm, row := range f.Rounds {
		if arm < 0 || arm >= len(f.Arms) {
			return r, fmt.Errorf("analysis: round %d pulls arm %d of %d", i, arm, len(f.Arms))
		}
		calls := 0
		if row != nil {
			calls = row.Answered(f.N)
			r.Partial = r.Partial || row.Partial
		}
		r.Best = append(r.Best, max(r.Best[i], f.Running[i]))
		r.Answered = append(r.Answered, calls)
		i++
	}
	return r, nil
}

// start begins the run with the best of the arms' initial programs.
func (f file) start(r *Run) error {
	calls := 0
	for i, arm := range f.Arms {
		if len(arm.Trajectory) == 0 || arm.Trajectory[0].Best == nil {
			return fmt.Errorf("analysis: arm %d has no score to start from", i)
		}
		row := arm.Trajectory[0]
		calls += row.Before()
		if i == 0 {
			r.Best = []float64{*row.Best}
		}
		r.Best[0] = max(r.Best[0], *row.Best)
	}
	r.Answered = []int{calls}
	return nil
}
