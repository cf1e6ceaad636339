package sweep

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// A foreign run was read from a result file, not made by the sweep.
type foreign struct {
	Trial
	of analysis.Curve
}

// readForeign reads the results that [Config.Read] names. They are this library's or those of the BaSE paper's code.
// One with a cell that the plan has too is an error: counted twice, a seed would make intervals too narrow.
func (p Plan) readForeign(paths []string) ([]foreign, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	runs, cells, arms := map[string]bool{}, map[Cell]bool{}, map[string]int{}
	for _, r := range p.Runs() {
		runs[r.base()], arms[r.Method] = true, r.Arms
		for _, c := range r.Cells() {
			cells[c] = true
		}
	}
	read := make([]analysis.Curve, len(paths))
	for i, path := range paths {
		var err error
		if read[i], err = analysis.ReadFile(path); err != nil {
			return nil, fmt.Errorf("sweep: %w", err)
		}
	}
	addArms(arms, read)
	var all []foreign
	for i, path := range paths {
		r := read[i]
		if r.Seed < 0 || r.Seed > math.MaxUint32 {
			return nil, fmt.Errorf("sweep: %s has the seed %d: need 0 to %d", path, r.Seed, uint32(math.MaxUint32))
		}
		f := p.foreign(r, arms)
		if runs[f.base()] || slices.ContainsFunc(f.Cells(), func(c Cell) bool { return cells[c] }) {
			return nil, fmt.Errorf("sweep: %s has the run %v, which the plan has too, or an earlier file, or a part of it: "+
				"leave one out", path, f.Trial)
		}
		runs[f.base()] = true
		for _, c := range f.Cells() {
			cells[c] = true
		}
		all = append(all, f)
	}
	return all, nil
}

// severalArms stands for the number of searches of a method whose runs differ in that number.
const severalArms = -1

// addArms adds to how many searches the methods of a plan have those of runs that were read.
func addArms(arms map[string]int, read []analysis.Curve) {
	planned := maps.Clone(arms)
	for _, r := range read {
		name := methodWithoutArms(r)
		if known, ok := arms[name]; !ok {
			arms[name] = r.Arms
		} else if _, ok := planned[name]; !ok && known != r.Arms {
			arms[name] = severalArms
		}
	}
}

// methodOf returns the name of the run's method in a sweep, whose own methods are strict.
func methodOf(r analysis.Curve) string {
	if r.Ties != "" {
		return r.Method + ", ties " + r.Ties
	}
	return r.Method
}

// methodWithoutArms returns the name of the run's method without its number of searches.
func methodWithoutArms(r analysis.Curve) string {
	if r.Arms < 1 {
		return methodOf(r)
	}
	return strings.Replace(methodOf(r), fmt.Sprintf(" K=%d", r.Arms), "", 1)
}

// foreign returns r with the cells of the plan's budgets that it contains: for a greedy run the generations that it
// reached, for any other its end if it reached that. arms has how many searches each method has.
func (p Plan) foreign(r analysis.Curve, arms map[string]int) foreign {
	f := foreign{Trial{Task: r.Task, Model: r.Model, Method: methodOf(r), N: r.N, Arms: max(r.Arms, 1), T: r.T,
		Seed: uint32(r.Seed)}, r}
	// The column arms has the number of searches. The name has it only where another method would have the same name.
	if name := methodWithoutArms(r); arms[name] == r.Arms {
		f.Method = name
	}
	whole := r.Generations()
	if r.Partial {
		whole--
	}
	for _, c := range p.Budgets {
		t := c / r.N
		if c%r.N == 0 && (r.Method == greedy && t <= min(r.T, whole) || t == r.T && !r.Early()) {
			f.Depths = append(f.Depths, t)
		}
	}
	slices.Sort(f.Depths)
	return f
}

// scores returns the best scores of the run's cells.
func (f foreign) scores() []Score {
	var list []Score
	for _, c := range f.Cells() {
		t := f.of.Generations()
		if f.of.Method == greedy && c.T < f.T {
			t = c.T
		}
		list = append(list, Score{c, f.of.Best[t], f.of.AnsweredBy(t)})
	}
	return list
}

// finished returns the run in the form of a marker, with the fields that [analysis.Curve] has of it: see known.
func (f foreign) finished() *finished {
	m := &finished{Stop: evolve.Stop(f.of.Stop), read: true}
	for g, best := range f.of.Best {
		m.Rows = append(m.Rows, row{Generation: g, Score: best, Best: best, Calls: f.of.AnsweredBy(g)})
	}
	m.Rows[len(m.Rows)-1].Partial = f.of.Partial
	return m
}

// known are the columns of a run that was read. Its file may say what belongs into others, but that is not read, and 0 would
// be false.
var known = []string{"task", "model", "method", "N", "arms", "T", "seed", "generation", "best", "calls", "partial",
	"stop"}
