package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// A foreign run was read from a result file, not made by the sweep.
type foreign struct {
	Run
	of analysis.Run
}

// readForeign reads the results that [Config.Read] names. They are this library's or those of the BaSE paper's code.
// One that is also a run of the plan is an error: counted twice, a seed would make intervals too narrow.
func (p Plan) readForeign(paths []string) ([]foreign, error) {
	taken := map[string]bool{}
	for _, r := range p.Runs() {
		taken[r.base()] = true
	}
	var all []foreign
	for _, path := range paths {
		r, err := analysis.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("sweep: %w", err)
		}
		if r.Seed < 0 || r.Seed > math.MaxUint32 {
			return nil, fmt.Errorf("sweep: %s has the seed %d: need 0 to %d", path, r.Seed, uint32(math.MaxUint32))
		}
		f := p.foreign(r)
		if taken[f.base()] {
			return nil, fmt.Errorf("sweep: %s has the run %v, which the plan has too, or an earlier file: leave one out",
				path, f.Run)
		}
		taken[f.base()] = true
		all = append(all, f)
	}
	return all, nil
}

// foreign returns r with the cells of the plan's budgets that it contains: for a greedy run the generations that it
// reached, for any other its end if it reached that.
func (p Plan) foreign(r analysis.Run) foreign {
	f := foreign{Run{Task: r.Task, Model: r.Model, Method: r.Method, N: r.N, Arms: max(r.Arms, 1), T: r.T,
		Seed: uint32(r.Seed)}, r}
	if r.Arms > 0 { // their number is in the column arms
		f.Method = strings.Replace(r.Method, fmt.Sprintf(" K=%d", r.Arms), "", 1)
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
		if f.Method == greedy && c.T < f.T {
			t = c.T
		}
		list = append(list, Score{c, f.of.Best[t], f.of.AnsweredBy(t)})
	}
	return list
}

// finished returns the run in the form of a marker, with those fields of rows that its file has.
func (f foreign) finished() *finished {
	m := &finished{}
	for g, best := range f.of.Best {
		m.Rows = append(m.Rows, row{Generation: g, Score: best, Best: best, Calls: f.of.AnsweredBy(g)})
	}
	return m
}
