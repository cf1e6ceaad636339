package sweep

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Method is a way to spend a budget, with a fixed number of children in a generation. [Greedy] and [Bandit] return
// those of the paper. New can make any search.
type Method struct {
	Name     string // in results and names of files; letters, digits, '.', '+' and '-'
	N        int    // children in a generation, at most
	Arms     int    // searches that share the budget; 0 means 1
	InFlight int    // searches advanced at once, see [evolve.Config]; 0 means 1
	// Contains means that a run of T generations begins with the run of every smaller T, child for child. One run then
	// serves all budgets, and ends after T generations, even if some calls brought no answer. false means that each budget
	// has a run of its own, which ends after T·N answers.
	Contains bool
	// Settings describes everything else that decides the searches. It is compared when a sweep is resumed. "" means
	// nothing else.
	Settings string
	// New makes the searches of one run. It is called before the run begins or resumes, concurrently for several runs, so
	// it must be safe for concurrent use.
	New func(Setup) (Searches, error)
}

// A Setup holds the parameters of a run, for which a [Method] makes searches.
type Setup struct {
	Task task.Task
	LLM  llm.LLM
	T, N int // the budget is T·N calls
	Seed uint32
}

// ArmSeed returns a seed for the i-th search of a run with several.
func (s Setup) ArmSeed(i int) uint32 { return evolve.ArmSeed(s.Seed, i) }

// Searches are the arms of one run.
type Searches struct {
	Arms  []evolve.Arm
	Seeds []uint32 // by arm, for the result; nil means those of [Setup.ArmSeed], or the run's for a single arm
	// Policy draws the arm of each round, with the run's seed; nil is allowed with one arm.
	Policy bandit.Policy
}

// greedy is the name of greedy search.
const greedy = "greedy"

// Greedy returns the paper's greedy search, which is Strict, with n children in each generation.
func Greedy(n int) Method {
	return Method{Name: greedy, N: n, Contains: true, New: func(s Setup) (Searches, error) {
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: s.Task, LLM: s.LLM, N: s.N, Seed: s.Seed, MaxGenerations: s.T,
			Strict: true})
		return Searches{Arms: []evolve.Arm{g}}, err
	}}
}

// Splits returns greedy search at each n that is a power of two and divides one of the budgets: all such splits between
// depth and breadth.
func Splits(budgets ...int) []Method {
	var methods []Method
	for n := 1; n <= evolve.MaxN; n *= 2 {
		for _, c := range budgets {
			if c >= n && c%n == 0 {
				methods = append(methods, Greedy(n))
				break
			}
		}
	}
	return methods
}

// Bandit returns a bandit over k of the paper's greedy searches, with n children in a generation. policy is called for
// each run, and makes a policy for a game of so many rounds and calls. A journal compares policies by how they print.
func Bandit(name string, n, k int, policy func(rounds, calls int) bandit.Policy) Method {
	return Method{Name: name, N: n, Arms: k, New: func(s Setup) (Searches, error) {
		list := Searches{Policy: policy(s.T, s.T*s.N)}
		for i := range k {
			g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: s.Task, LLM: s.LLM, N: s.N, Seed: s.ArmSeed(i), Strict: true})
			if err != nil {
				return Searches{}, fmt.Errorf("sweep: method %s: %w", name, err)
			}
			list.Arms = append(list.Arms, g)
		}
		return list, nil
	}}
}
