package replay

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/replay/internal/compat"
)

// Paper returns a policy of the BaSE paper's own code (arXiv:2605.29268), over the given number of arms: "ucb",
// "exp3p", "thompson" or "random". It draws what CPython's random numbers made that code
// draw, so [Verify] can repeat the paper's files, selection by selection, and [Play] shows what that code
// would have done with other arms. A file of the paper gives the arguments as Run.Algo, len(Arms) and
// int64(Run.Seed). For a run of your own take the policies of package bandit instead.
//
// Its draws differ from those of package bandit in what the paper's code did:
//
//   - The policy chooses by itself, from one stream of its own over the whole run. Its probabilities are
//     0 and 1, so the propensity of each pull is 1.
//   - It chooses among all arms. If its choice is closed, the open arm with the fewest pulls takes the round,
//     and the policy learns from that pull as if it had chosen it.
//   - "exp3p" keeps its weights as they are. They overflow after some nine thousand rounds of rewards near 1
//     with ten arms, and the last arm takes every round from then on.
//   - A reward of NaN counts as 0. Only an Update by hand can give one.
//   - Seeds −s and s are the same, as in Python.
//
// It is made for one pending pull at a time. It panics if it is played over another number of arms.
//
// The error says that there is no such algorithm, or fewer than one arm.
func Paper(algo string, arms int, seed int64) (bandit.Policy, error) {
	p, err := compat.NewPolicy(compat.Config{Algo: algo, Arms: arms, Seed: seed})
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return p, nil
}
