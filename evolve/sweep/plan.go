package sweep

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Model is the language model of a run.
type Model struct {
	Spec llm.Model // decides the charges; its Key names the model in results and files
	// LLM answers the calls of all runs. [Config] limits its calls in flight and retries failed ones.
	LLM llm.LLM
	// Settings holds what else decides the answers of the model or what they are charged as: fields of requests, a price.
	// A run that was finished or begun without any fits all.
	Settings string
}

// A Plan is a grid: the product of its lists. A method whose breadth does not divide a budget has no cell there.
// All lists must have an element, and none twice.
type Plan struct {
	Tasks   []task.Task
	Models  []Model
	Methods []Method
	Budgets []int    // C: model calls
	Seeds   []uint32 // of runs
	// Fingerprint holds further settings that decide the runs, by name: the limit on an evaluation, the settings of a
	// model. The plan adds its own. It is compared when a sweep is resumed, see [journal.Fingerprint].
	Fingerprint journal.Fingerprint
}

// A Trial is one run of a plan. It is made once, and serves the cells of one or several budgets.
type Trial struct {
	Task, Model string // their names
	Method      string
	N           int // children in a generation
	Arms        int // searches that share the budget
	T           int // generations of its deepest cell
	Seed        uint32
	Depths      []int // T of each of its cells, ascending

	of parts
}

// parts are a run's indices in the plan's lists.
type parts struct{ task, model, method int }

// Calls returns the run's budget, T·N.
func (r Trial) Calls() int { return r.T * r.N }

// Cells returns the run's cells, the shallowest first.
func (r Trial) Cells() []Cell {
	cells := make([]Cell, len(r.Depths))
	for i, t := range r.Depths {
		cells[i] = Cell{Task: r.Task, Model: r.Model, Method: r.Method, N: r.N, T: t, Seed: r.Seed}
	}
	return cells
}

// String returns the path of the run's files without an ending: "cp/offline/greedy_C128_T8_N16_seed40".
func (r Trial) String() string { return r.base() }

// A Cell is a cell of the grid with one seed.
type Cell struct {
	Task, Model, Method string
	N, T                int
	Seed                uint32
}

// Calls returns the cell's budget, T·N.
func (c Cell) Calls() int { return c.T * c.N }

// Runs returns the runs of the plan in the order in which they begin: seed by seed, so that every cell has a score
// early and intervals narrow everywhere at once. The deepest runs of a seed begin first, since they take the longest.
func (p Plan) Runs() []Trial {
	var runs []Trial
	for _, seed := range p.Seeds {
		from := len(runs)
		for of := range p.parts() {
			runs = append(runs, p.runs(of, seed)...)
		}
		slices.SortStableFunc(runs[from:], func(a, b Trial) int { return b.T - a.T })
	}
	return runs
}

// parts yields the combinations of tasks, models and methods.
func (p Plan) parts() func(yield func(parts) bool) {
	return func(yield func(parts) bool) {
		for t := range p.Tasks {
			for m := range p.Models {
				for k := range p.Methods {
					if !yield(parts{t, m, k}) {
						return
					}
				}
			}
		}
	}
}

// runs returns the runs of one combination and seed: one with all depths if a run of the method contains the shorter
// ones, or one for each depth.
func (p Plan) runs(of parts, seed uint32) []Trial {
	m := p.Methods[of.method]
	depths := p.depths(m)
	if len(depths) == 0 {
		return nil
	}
	groups := [][]int{depths}
	if !m.Contains {
		groups = slices.Collect(slices.Chunk(depths, 1))
	}
	var runs []Trial
	for _, group := range groups {
		runs = append(runs, Trial{
			Task: p.Tasks[of.task].Name(), Model: p.Models[of.model].Spec.Key, Method: m.Name, N: m.N, Arms: max(m.Arms, 1),
			T: slices.Max(group), Seed: seed, Depths: group, of: of,
		})
	}
	return runs
}

// depths returns the numbers of generations of the budgets under m, ascending.
func (p Plan) depths(m Method) []int {
	var depths []int
	for _, c := range p.Budgets {
		if c%m.N == 0 {
			depths = append(depths, c/m.N)
		}
	}
	slices.Sort(depths)
	return depths
}

// A Cost is the cost of a plan. Calls without an answer come on top.
type Cost struct {
	Cells, Runs int
	Calls       int // of all runs
	Naive       int // of all cells, if each was a run of its own
}

// Cost returns the cost of the plan. It fails if the plan is wrong.
func (p Plan) Cost() (Cost, error) {
	if err := p.validate(); err != nil {
		return Cost{}, err
	}
	var c Cost
	for _, r := range p.Runs() {
		c.Runs++
		c.Calls += r.Calls()
		c.Cells += len(r.Depths)
		for _, t := range r.Depths {
			c.Naive += t * r.N
		}
	}
	return c, nil
}

// Valid names of models and methods, which become parts of paths. A key may have folders, as in Qwen/Qwen3-8B.
var (
	keys  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*$`)
	names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+-]*$`)
)

func (p Plan) validate() error {
	for name, n := range map[string]int{"Tasks": len(p.Tasks), "Models": len(p.Models), "Methods": len(p.Methods),
		"Budgets": len(p.Budgets), "Seeds": len(p.Seeds)} {
		if n == 0 {
			return fmt.Errorf("sweep: Plan.%s is empty: need at least 1", name)
		}
	}
	for _, c := range p.Budgets {
		if c < 1 || c > math.MaxInt32 {
			return fmt.Errorf("sweep: Plan.Budgets has %d: need 1 to %d calls", c, math.MaxInt32)
		}
	}
	if err := p.validateParts(); err != nil {
		return err
	}
	return p.distinct()
}

func (p Plan) validateParts() error {
	for i, t := range p.Tasks {
		if t == nil {
			return fmt.Errorf("sweep: Plan.Tasks[%d] is nil", i)
		}
	}
	for i, m := range p.Models {
		switch {
		case m.LLM == nil:
			return fmt.Errorf("sweep: Plan.Models[%d].LLM is nil", i)
		case !keys.MatchString(m.Spec.Key):
			return fmt.Errorf("sweep: Plan.Models[%d].Spec.Key is %q: need a key that can name a folder, such as qwen3-8b",
				i, m.Spec.Key)
		}
	}
	for i, m := range p.Methods {
		switch {
		case m.New == nil:
			return fmt.Errorf("sweep: Plan.Methods[%d].New is nil", i)
		case !names.MatchString(m.Name):
			return fmt.Errorf("sweep: Plan.Methods[%d].Name is %q: need letters, digits, '.', '+' and '-'", i, m.Name)
		case m.N < 1 || m.N > evolve.MaxN:
			return fmt.Errorf("sweep: Plan.Methods[%d].N is %d: need 1 to %d children", i, m.N, evolve.MaxN)
		case m.Arms < 0 || m.InFlight < 0:
			return fmt.Errorf("sweep: Plan.Methods[%d] has %d arms, %d in flight: need 0 for one, or more",
				i, m.Arms, m.InFlight)
		case len(p.depths(m)) == 0:
			return fmt.Errorf("sweep: Plan.Methods[%d], %s, has no cell: %d children divide none of the budgets %v",
				i, m.Name, m.N, p.Budgets)
		}
	}
	return nil
}

// distinct returns an error if a list has an element twice. Two runs would then have the same files, or count as one
// method though they have other numbers of arms.
func (p Plan) distinct() error {
	budgets, seeds, files, cells := map[int]bool{}, map[uint32]bool{}, map[string]bool{}, map[Cell]bool{}
	for _, c := range p.Budgets {
		if budgets[c] {
			return fmt.Errorf("sweep: Plan.Budgets has %d twice", c)
		}
		budgets[c] = true
	}
	for _, s := range p.Seeds {
		if seeds[s] {
			return fmt.Errorf("sweep: Plan.Seeds has %d twice", s)
		}
		seeds[s] = true
	}
	for _, r := range p.Runs() {
		if files[r.base()] {
			return fmt.Errorf("sweep: two runs of the plan are %s: give tasks, models and methods names of their own", r.base())
		}
		files[r.base()] = true
		for _, c := range r.Cells() {
			if cells[c] {
				return fmt.Errorf("sweep: two methods of the plan are %s with %d children: give them names of their own", c.Method,
					c.N)
			}
			cells[c] = true
		}
	}
	return nil
}
