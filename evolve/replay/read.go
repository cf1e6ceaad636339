package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/evoalloc/evoalloc/evolve/result"
)

// ReadFiles reads logs from files, see [Read], and returns one with all their searches, in order. It has no run unless
// there is only one file. Searches of the same name get the name of their file as well.
func ReadFiles(paths ...string) (Log, error) {
	var all Log
	names := make(map[string]bool)
	for i, path := range paths {
		l, err := readFile(path)
		if err != nil || len(paths) == 1 {
			return l, err
		}
		if i == 0 {
			all.Task = l.Task
		}
		if l.Task != all.Task {
			return Log{}, fmt.Errorf("replay: %s is of task %q, the first file of %q: scores are not comparable",
				filepath.Base(path), l.Task, all.Task)
		}
		for _, a := range l.Arms {
			a.Rewards = nil // of a run that is not kept
			if names[a.Name] {
				a.Name += " of " + filepath.Base(path)
			}
			names[a.Name] = true
			all.Arms = append(all.Arms, a)
		}
	}
	return all, all.validate()
}

func readFile(path string) (Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return Log{}, fmt.Errorf("replay: %w", err)
	}
	defer f.Close()
	l, err := Read(f)
	if err != nil {
		return Log{}, fmt.Errorf("%w, in %s", err, filepath.Base(path))
	}
	return l, nil
}

// ReadScores reads groups of searches from lists of scores by arm (see docs/reference.md), in order of their names. It
// returns none for a result file.
func ReadScores(path string) ([]Log, error) {
	var f struct{ Groups map[string][][]float64 } // null is 0
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	var groups []Log
	for _, name := range slices.Sorted(maps.Keys(f.Groups)) {
		l := Log{Task: name}
		for i, scores := range f.Groups[name] {
			best := []float64{0}
			for n, score := range scores {
				best = append(best, max(best[n], score))
			}
			l.Arms = append(l.Arms, Arm{Name: strconv.Itoa(i), Best: best})
		}
		groups = append(groups, l)
	}
	return groups, nil
}

// Read reads the result file of a run of this library or of the BaSE paper's code, greedy or bandit (see
// docs/reference.md). Generations and rounds that were cut short are left out.
func Read(r io.Reader) (Log, error) {
	f, err := result.Read(r)
	if err != nil {
		return Log{}, fmt.Errorf("replay: %w", err)
	}
	l := Log{Task: f.Task}
	for _, search := range f.ArmResults {
		a, err := newArm(search, f.N)
		if err != nil {
			return Log{}, err
		}
		l.Arms = append(l.Arms, a)
	}
	if !f.Alone {
		l.Run = &Allocation{Algo: f.Algo, Seed: uint64(f.BanditSeed), Selections: f.Selections, Propensities: f.Propensities,
			Rewards: f.Rewards}
	}
	if err := l.validate(); err != nil {
		return Log{}, err
	}
	return l, l.assign()
}

// newArm makes a search of a trajectory, whose rows are the generations 0, 1, ... Those that were cut short come last.
// A row that does not say how many calls it was granted, as the paper's, has n.
func newArm(search result.Arm, n int) (Arm, error) {
	a := Arm{Name: fmt.Sprintf("seed %d", search.Seed)}
	for i, r := range search.Trajectory {
		switch {
		case r.Partial:
			return a, nil
		case r.Generation != i:
			return a, fmt.Errorf("replay: %s: generation %d in row %d of the trajectory", a.Name, r.Generation, i)
		case r.BestFitness == nil:
			return a, fmt.Errorf("replay: %s: generation %d has no best_fitness", a.Name, i)
		case i == 0:
			a.Best = []float64{*r.BestFitness}
			continue
		}
		a.Best = append(a.Best, max(*r.BestFitness, a.Best[i-1]))
		a.Calls = append(a.Calls, cmp.Or(r.Width, n, 1))
	}
	return a, nil
}

// assign gives each arm the rewards of its rounds, and takes rounds out of the run whose generation is not in the
// arm's trajectory because it was cut short.
func (l *Log) assign() error {
	if l.Run == nil {
		return nil
	}
	kept := Allocation{Algo: l.Run.Algo, Seed: l.Run.Seed}
	for i, arm := range l.Run.Selections {
		a := &l.Arms[arm]
		if len(a.Rewards) == a.Pulls() {
			continue
		}
		a.Rewards = append(a.Rewards, l.Run.Rewards[i])
		kept.Selections, kept.Rewards = append(kept.Selections, arm), append(kept.Rewards, l.Run.Rewards[i])
		if l.Run.Propensities != nil {
			kept.Propensities = append(kept.Propensities, l.Run.Propensities[i])
		}
	}
	i := slices.IndexFunc(l.Arms, func(a Arm) bool { return len(a.Rewards) != a.Pulls() })
	if i >= 0 {
		return fmt.Errorf("replay: arm %d has %d generations, but was selected in %d rounds", i, l.Arms[i].Pulls(),
			len(l.Arms[i].Rewards))
	}
	l.Run = &kept
	return nil
}
