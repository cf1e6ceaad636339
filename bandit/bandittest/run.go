// Package bandittest checks what any [bandit.Policy] must hold. It is for tests: call [Run] in the test of
// a policy. To measure how well a policy does, see package sim.
package bandittest

import (
	"fmt"
	"runtime/debug"

	"github.com/evoalloc/evoalloc/bandit"
)

// T is what Run needs of a *testing.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Run checks that the policies that fresh returns keep the promises of [bandit.Policy], each check with
// policies of its own:
//
//   - prints: they have a String method; two equal ones print the same, and go on doing so while they
//     learn, since how a policy prints is what tells one run's configuration from another's;
//   - distribution: probabilities are finite, not negative and sum to 1, whatever arms are open;
//   - closed arms: those get no mass, in any pattern, before and after pulls;
//   - purity: Probs changes neither the policy nor the round, and the same stream gives the same
//     probabilities;
//   - late outcomes: several pulls are pending, also of one arm, and their outcomes come in any order,
//     for arms closed since, or never;
//   - sized pulls: pulls that differ in how many calls they make, from draw to draw, some of which do not say;
//   - costs: calls that all cost the same lead to the probabilities that there are without costs, to the bit, and
//     costs that differ to a distribution;
//   - adopted pulls: outcomes that come before any probability was asked for teach the same as later
//     ones, since a resumed run may report pulls that its earlier incarnation drew;
//   - rerun: the same seed and outcomes give the same pulls, and policies share no state;
//   - one arm: it gets all the mass;
//   - many arms: a thousand of them;
//   - extreme rewards: 0, 1, all equal, negative, tiny and the largest float64s of either sign;
//   - rewards that are not finite: NaN and the infinities change nothing, wherever among the outcomes;
//   - many rounds: 100,000 outcomes, in favor of one arm and then of another.
//
// Every failed check is one Errorf that begins with the policy and the name of the check. A panic of the
// policy fails the check that it happens in. All randomness is seeded, so a failure repeats. It asks a
// policy for some ten thousand probabilities.
func Run(t T, fresh func() bandit.Policy) {
	t.Helper()
	for _, c := range checks {
		if err := c.try(fresh); err != nil {
			t.Errorf("%v: %s: %v", fresh(), c.name, err)
		}
	}
}

type check struct {
	name string
	run  func(fresh func() bandit.Policy) error
}

var checks = []check{
	{"prints", checkPrints},
	{"distribution", checkDistribution},
	{"closed arms", checkClosedArms},
	{"purity", checkPurity},
	{"late outcomes", checkLateOutcomes},
	{"sized pulls", checkSizedPulls},
	{"costs", checkCosts},
	{"adopted pulls", checkAdopted},
	{"rerun", checkRerun},
	{"one arm", checkOneArm},
	{"many arms", checkManyArms},
	{"extreme rewards", checkExtremeRewards},
	{"rewards that are not finite", checkNotFinite},
	{"many rounds", checkManyRounds},
}

func (c check) try(fresh func() bandit.Policy) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return c.run(fresh)
}
