package sweep

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Method is a way to spend a budget, with a fixed number of children in a generation. [Greedy] and [Bandit] return
// those of the paper. Any search is one: New makes its arms.
type Method struct {
	Name     string // in results and names of files; letters, digits, '.', '+' and '-'
	N        int    // children in a generation, at most
	Arms     int    // how many searches share the budget; 0 means 1
	InFlight int    // how many of them are advanced at once, see [evolve.Config]; 0 means 1
	// Contains says that a run of T generations begins with the run of every smaller T, child for child. All budgets
	// are then read off one run, and the run ends after T generations, even if some calls brought no answer. Without
	// it each budget has a run, which ends after T·N answers.
	Contains bool
	// Settings is what decides the searches beside the name and the numbers above. It is compared when a sweep goes
	// on. "" means that the name says it all.
	Settings string
	// New makes the searches of one run. It is called before the run begins or goes on, at the same time as for other
	// runs, so it must be safe for concurrent use.
	New func(Setup) (Searches, error)
}

// A Setup is what a [Method] makes the searches of a run for.
type Setup struct {
	Task task.Task
	LLM  llm.LLM
	T, N int // the budget is T·N calls
	Seed uint32
}

// ArmSeed returns a seed for the i-th search of a run with several, derived from the run's: those of runs with other
// seeds differ.
func (s Setup) ArmSeed(i int) uint32 {
	word, _ := stream.Seed(uint64(s.Seed), "sweep: arm", uint64(i))
	return uint32(word >> 32)
}

// Searches are the arms of one run.
type Searches struct {
	Arms  []evolve.Arm
	Seeds []uint32 // by arm, for the result; nil means those of [Setup.ArmSeed], and for a single arm the run's
	// Policy draws the arm of each round; nil is allowed with one arm. The seed of its draws is the run's.
	Policy bandit.Policy
}

// greedy is the name of greedy search.
const greedy = "greedy"

// Greedy returns the paper's greedy search, which is Strict, with n children in each generation.
func Greedy(n int) Method {
	return Method{Name: greedy, N: n, Contains: true, New: func(s Setup) (Searches, error) {
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: s.Task, LLM: s.LLM, N: s.N, Seed: s.Seed, MaxGenerations: s.T, Strict: true})
		return Searches{Arms: []evolve.Arm{g}}, err
	}}
}

// Splits returns greedy search at each n that is a power of two and divides one of the budgets: all such ways to split
// them between depth and breadth.
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

// Bandit returns a bandit over k of the paper's greedy searches, with n children in a generation. policy makes a policy for a game of
// the given number of rounds and calls, and is called for each run. A journal compares policies by how they print.
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
