package replay

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/evoalloc/evoalloc/evolve/internal/resultfile"
)

// readFile reads a log from a file.
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

// ReadFiles reads logs from files, see [Read], and returns one with all their searches, in order. It has no run unless
// there is only one file. Searches of the same name get the name of their file as well.
func ReadFiles(paths ...string) (Log, error) {
	if len(paths) == 1 {
		return readFile(paths[0])
	}
	var all Log
	names := make(map[string]bool)
	for i, path := range paths {
		l, err := readFile(path)
		if err != nil {
			return Log{}, err
		}
		if i == 0 {
			all.Task, all.Model, all.N, all.Breadth = l.Task, l.Model, l.N, l.Breadth
		}
		if l.Task != all.Task || l.N != all.N || l.Breadth != all.Breadth {
			return Log{}, fmt.Errorf("replay: %s is of task %q with %s, the first file of %q with %s: scores are not "+
				"comparable", filepath.Base(path), l.Task, l.generations(), all.Task, all.generations())
		}
		if l.Model != all.Model {
			all.Model = "" // there are several
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

// generations says how many children the log's generations had.
func (l Log) generations() string {
	s := fmt.Sprintf("N=%d", l.N)
	if l.Breadth != "" {
		s += " and breadth " + l.Breadth
	}
	return s
}

// Read reads a log: JSON if it begins with a brace, else CSV. JSON is a result of this library or of the BaSE paper's
// code, greedy or bandit (see docs/reference.md).
//
// CSV has scores by generation, in one of two forms. In the first, each search is a column, and the
// rows are the generations 0, 1, ... in order, numbered in the first column. A search that is over has empty
// cells:
//
//	generation,40,41
//	0,0.36,0.36
//	1,0.41,0.36
//	2,0.41,
//
// In the second, each row is one generation of one search, in any order. It has the columns seed (or arm),
// generation and best_fitness (or fitness, or score); other columns are ignored:
//
//	seed,generation,best_fitness
//	40,0,0.36
//	40,1,0.41
//
// Generation 0 is the initial program's score. Scores may fall; the best so far is what counts.
func Read(r io.Reader) (Log, error) {
	b := bufio.NewReader(r)
	for {
		c, err := b.ReadByte()
		if errors.Is(err, io.EOF) {
			return Log{}, errors.New("replay: the log is empty")
		}
		if err != nil {
			return Log{}, fmt.Errorf("replay: %w", err)
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		}
		if err := b.UnreadByte(); err != nil {
			return Log{}, fmt.Errorf("replay: %w", err)
		}
		if c == '{' {
			return readJSON(b)
		}
		return readCSV(b)
	}
}

// A result is the file of a run.
type result struct{ *resultfile.File }

func readJSON(r io.Reader) (Log, error) {
	read, err := resultfile.Read(r)
	if err != nil {
		return Log{}, fmt.Errorf("replay: %w", err)
	}
	f := result{read}
	l := Log{Task: f.Task, Model: f.Model, N: f.N, Breadth: f.Breadth}
	if f.Arms == nil {
		a, err := f.newArm(f.Seed, f.Trajectory)
		if err != nil {
			return Log{}, err
		}
		l.Arms = []Arm{a}
		return l, l.validate()
	}
	for _, arm := range f.Arms {
		a, err := f.newArm(arm.Seed, arm.Trajectory)
		if err != nil {
			return Log{}, err
		}
		l.Arms = append(l.Arms, a)
	}
	if l.Run, err = f.run(); err != nil {
		return Log{}, err
	}
	if err := l.validate(); err != nil {
		return Log{}, err
	}
	return l, l.assign()
}

// newArm makes a search of a trajectory, whose rows are the generations 0, 1, ... Generations that were cut
// short come last and are left out.
func (f result) newArm(seed int64, rows []resultfile.Row) (Arm, error) {
	a := Arm{Name: fmt.Sprintf("seed %d", seed)}
	if i := slices.IndexFunc(rows, func(r resultfile.Row) bool { return r.Partial }); i >= 0 {
		rows = rows[:i]
	}
	for i, r := range rows {
		switch {
		case r.Generation != i:
			return a, fmt.Errorf("replay: %s: generation %d in row %d of the trajectory", a.Name, r.Generation, i)
		case r.Best == nil:
			return a, fmt.Errorf("replay: %s: generation %d has no best_fitness", a.Name, i)
		}
		a.Best = append(a.Best, *r.Best)
	}
	rising(a.Best)
	if f.Granted != nil || len(rows) == 0 {
		return a, nil // assign knows the calls by round
	}
	var err error
	a.Calls, err = f.widths(a.Name, rows[1:])
	return a, err
}

// widths returns how many calls each generation was granted: N where the rows do not say, as the paper's.
func (f result) widths(name string, rows []resultfile.Row) (calls []int, err error) {
	for _, r := range rows {
		switch {
		case r.Width == 0 && f.Breadth != "":
			return nil, fmt.Errorf("replay: %s: generation %d has no width, and with breadth %s it may be another than N: "+
				"write the result again with a newer version", name, r.Generation, f.Breadth)
		case r.Width == 0 && f.N == 0:
			return nil, nil
		}
		calls = append(calls, cmp.Or(r.Width, f.N))
	}
	return calls, nil
}

func (f result) run() (*Run, error) {
	r := &Run{Algo: f.Algo, Policy: f.Policy, Selections: f.Selections, Propensities: f.Propensities, Rewards: f.Rewards,
		Calls: f.Granted}
	if f.BanditSeed == "" {
		return r, nil
	}
	seed, err := strconv.ParseUint(f.BanditSeed.String(), 10, 64)
	if err != nil {
		signed, err := strconv.ParseInt(f.BanditSeed.String(), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("replay: bandit_seed %s: need a whole number", f.BanditSeed)
		}
		seed = uint64(signed)
	}
	r.Seed = seed
	return r, nil
}

// assign gives each arm the rewards and the calls of its rounds. A round whose generation is not in the arm's
// trajectory was cut short; it is taken out of the run.
func (l *Log) assign() error {
	r := l.Run
	var kept Run
	for i, arm := range r.Selections {
		a := &l.Arms[arm]
		if len(a.Rewards) == len(a.Best)-1 {
			continue
		}
		a.Rewards = append(a.Rewards, r.Rewards[i])
		if r.Calls != nil {
			a.Calls = append(a.Calls, r.Calls[i])
		}
		if n := len(a.Rewards); n <= len(a.Calls) {
			kept.Calls = append(kept.Calls, a.Calls[n-1])
		}
		kept.Selections, kept.Rewards = append(kept.Selections, arm), append(kept.Rewards, r.Rewards[i])
		if r.Propensities != nil {
			kept.Propensities = append(kept.Propensities, r.Propensities[i])
		}
	}
	for i := range l.Arms {
		a := &l.Arms[i]
		if len(a.Rewards) != len(a.Best)-1 {
			return fmt.Errorf("replay: arm %d has %d generations, but was selected in %d rounds", i, len(a.Best)-1,
				len(a.Rewards))
		}
		if slices.Contains(a.Calls, 0) { // it does not say how many it makes
			a.Calls = nil
		}
	}
	if len(kept.Calls) != len(kept.Selections) {
		kept.Calls = nil
	}
	kept.Algo, kept.Policy, kept.Seed = r.Algo, r.Policy, r.Seed
	l.Run = &kept
	return nil
}
