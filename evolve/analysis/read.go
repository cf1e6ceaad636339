package analysis

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/result"
)

// A file is a result file.
type file struct{ *result.Bandit }

// ReadFile reads the run in a result file as [Read] does.
func ReadFile(path string) (Curve, error) {
	f, err := os.Open(path)
	if err != nil {
		return Curve{}, fmt.Errorf("analysis: %w", err)
	}
	defer f.Close()
	r, err := Read(f)
	if err != nil {
		return Curve{}, fmt.Errorf("%w, in %s", err, path)
	}
	r.From = path
	return r, nil
}

// Read reads a run from a result file of this library or of the BaSE paper's code, greedy or bandit
// (docs/reference.md). An answered call is a child or an aside whose final status is "ok", or one with a program in a
// file without statuses; where a file has no rows of children, n_children counts. The best score of a generation is
// that of it and all before. Read returns an error if the file is not a result, or lacks a field that is needed.
func Read(from io.Reader) (Curve, error) {
	f, err := result.Read(from)
	if err != nil {
		return Curve{}, fmt.Errorf("analysis: %w", err)
	}
	return Of(f)
}

// Of returns the run of a result file, as [Read] does.
func Of(read *result.Bandit) (r Curve, err error) {
	f := file{read}
	if f.Alone {
		r, err = f.greedy()
	} else {
		r, err = f.bandit()
	}
	if err != nil {
		return Curve{}, err
	}
	return r, r.validate()
}

// method returns a name with everything else that decides how the budget is spent: the breadth, and the kinds of a
// bandit's searches, unless all are greedy.
func (f file) method(name string) string {
	if f.Breadth != "" {
		name += " " + f.Breadth
	}
	if kinds := slices.Compact(slices.Sorted(slices.Values(f.Kinds))); len(kinds) > 0 {
		name += " of " + strings.Join(kinds, ", ")
	}
	return name
}

// greedy returns the run of a file of one search.
func (f file) greedy() (Curve, error) {
	search := f.ArmResults[0]
	r := Curve{Task: f.Task, Model: f.Model, Method: f.method(cmp.Or(f.Algo, "greedy")), T: f.T, N: f.N,
		Breadth: f.Breadth, Ties: f.Ties, Seed: search.Seed, Stop: f.Stop}
	for i, row := range search.Trajectory {
		switch {
		case row.Generation != i:
			return r, fmt.Errorf("analysis: generation %d in row %d of the trajectory", row.Generation, i)
		case row.BestFitness == nil:
			return r, fmt.Errorf("analysis: generation %d has no best_fitness", i)
		}
		best := *row.BestFitness
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
func (f file) bandit() (Curve, error) {
	r := Curve{Task: f.Task, Model: f.Model, Method: f.method(fmt.Sprintf("%s K=%d", f.Algo, len(f.ArmResults))), T: f.T,
		N: f.N, Breadth: f.Breadth, Ties: f.Ties,
		Arms: len(f.ArmResults), Seed: int64(f.BanditSeed), Stop: f.Stop}
	if len(f.RunningBest) != len(f.Selections) {
		return r, fmt.Errorf("analysis: %d selections and a running_best of %d rounds", len(f.Selections),
			len(f.RunningBest))
	}
	if err := f.start(&r); err != nil {
		return r, err
	}
	i := 0
	for arm, row := range f.Rounds {
		if arm < 0 || arm >= len(f.ArmResults) {
			return r, fmt.Errorf("analysis: round %d pulls arm %d of %d", i, arm, len(f.ArmResults))
		}
		calls := 0
		if row != nil {
			calls = row.Answered(f.N)
			r.Partial = r.Partial || row.Partial
		}
		r.Best = append(r.Best, max(r.Best[i], f.RunningBest[i]))
		r.Answered = append(r.Answered, calls)
		i++
	}
	return r, nil
}

// start begins the run with the best of the arms' initial programs.
func (f file) start(r *Curve) error {
	calls := 0
	for i, arm := range f.ArmResults {
		if len(arm.Trajectory) == 0 || arm.Trajectory[0].BestFitness == nil {
			return fmt.Errorf("analysis: arm %d has no score to start from", i)
		}
		row := arm.Trajectory[0]
		calls += row.Before()
		if i == 0 {
			r.Best = []float64{*row.BestFitness}
		}
		r.Best[0] = max(r.Best[0], *row.BestFitness)
	}
	r.Answered = []int{calls}
	return nil
}
