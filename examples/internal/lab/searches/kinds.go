package searches

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// kinds are runs over three kinds of proposers: one edits what it is shown, one makes other structure, and one crosses
// and edits. drift, which asks one model for the first two, is what they have to beat.
//
//   - kinds-relay: members hand on the best program, and the policy is the default bandit of populations
//   - kinds-best-of: each has a third of the calls by itself
//   - kinds-sequential: each has a third of the calls, and begins with the best program of the one before
//   - kinds-adaptive: the next one begins with the best program once the one before it was silent for 32 calls
//
// The last three are the ways in which GEPA composes its engines.
func kinds() []compare.Search {
	of := func(name string, archive func() population.Archive, operators ...population.Operator) compare.Search {
		return rescored(name, func(s compare.Setting) population.Config {
			c := population.Config{Operators: operators}
			if !s.Noisy {
				c.Archive = archive()
			}
			return c
		})
	}
	drifting := func() population.Archive { return population.Drift() }
	members := []compare.Search{
		of("editor", drifting, population.Rewrite{}),
		of("structure", drifting, population.Explore{}),
		of("crossing", func() population.Archive { return population.Top(40) }, population.Cross{}, population.Rewrite{}),
	}
	thirds := func(int) bandit.Policy { return bandit.Shares{1, 1, 1} }
	return []compare.Search{
		softmaxRelay("kinds-relay", members...),
		portfolio("kinds-best-of", thirds, members...),
		relay("kinds-sequential", func(calls int) bandit.Policy { return sequential{calls} }, members...),
		relay("kinds-adaptive", func(int) bandit.Policy { return &impatient{patience: 32} }, members...),
	}
}

// sequential lets each arm have an equal part of so many pulls, one after the other.
type sequential struct{ pulls int }

// Probs gives mass 1 to the arm whose part it is, or the next that is open.
func (s sequential) Probs(p []float64, r bandit.Round) {
	p[nextOpen(r, min(r.T*len(p)/s.pulls, len(p)-1))] = 1
}

// Update does nothing.
func (sequential) Update(bandit.Pull, float64) {}

// String names the policy.
func (s sequential) String() string { return fmt.Sprintf("sequential(%d)", s.pulls) }

// impatient stays with an arm until so many pulls of it in a row brought nothing.
type impatient struct {
	patience    int
	arm, silent int
}

// Probs gives mass 1 to the arm, or the next that is open.
func (i *impatient) Probs(p []float64, r bandit.Round) { p[nextOpen(r, i.arm%len(p))] = 1 }

// Update counts pulls without a gain.
func (i *impatient) Update(_ bandit.Pull, reward float64) {
	if i.silent++; reward > 0 {
		i.silent = 0
	}
	if i.silent >= i.patience {
		i.arm, i.silent = i.arm+1, 0
	}
}

// String names the policy.
func (i *impatient) String() string { return fmt.Sprintf("impatient(%d)", i.patience) }

// nextOpen returns the first open arm from arm on.
func nextOpen(r bandit.Round, arm int) int {
	for !r.Open[arm] {
		arm = (arm + 1) % len(r.Open)
	}
	return arm
}

var _, _ = bandit.Policy(sequential{}), bandit.Policy(&impatient{})
