// Package bandit decides which of several searches gets the next pull.
//
// A [Policy] returns probabilities, not a choice. A floor or a mixture over a bare choice cannot know the
// true propensity, while over probabilities it is one line. Importance weights stay right while several pulls
// are pending. Logged propensities allow off-policy replay.
//
// A [Player] draws from the probabilities and routes the outcomes back. A policy knows nothing of programs,
// files, clocks or the network.
package bandit

import "math/rand/v2"

// A Policy decides how likely each arm is to be pulled next. It is not safe for concurrent use.
//
// A higher reward is better. A policy expects rewards in [0, 1], unless its method AnyScale() bool returns true. [Normalize]
// and [Rescale] map others there. By default a run of evolve reports an arm's best score so far, by Rescale where needed.
type Policy interface {
	// Probs fills p, one entry an arm, with the chance of pulling each arm. It must not change the policy,
	// and gives closed arms no mass. p comes in zeroed; at least one arm is open. The number of arms is
	// the same at every draw.
	Probs(p []float64, r Round)
	// Update records the outcome of a pull. Outcomes may come late and out of order, and that of a
	// canceled pull never comes. A pull that an earlier incarnation of a run drew may have its outcome
	// reported before this policy is asked for its first probabilities; see [Player.Adopt].
	//
	// A reward that is not finite changes nothing: one NaN would stay in a mean for good. A [Player] refuses
	// such rewards, so this is about policies that are updated without one.
	Update(pull Pull, reward float64)
}

// A Round is what a policy is told at a draw. The slices have one entry an arm; a policy must neither change
// nor keep them.
type Round struct {
	T       int        // draws so far
	Open    []bool     // arms that may be pulled
	Pending []int      // pulls whose outcome is not in yet, by arm
	Rand    *rand.Rand // a stream private to this draw
	// Calls is how many model calls a pull of each arm makes: the pending one, or else the next. 0 means that
	// the arm does not say, and nil that no arm does.
	Calls []int
	// Costs is what a model call of each arm's pulls is expected to cost, as a multiple of the least of all arms: each is
	// at least 1 and finite. nil means that they are alike, or not known. A policy that counts calls then counts each as
	// so many, so that gains are compared by what they cost.
	Costs []float64
}

// pending returns the number of pending pulls of all arms.
func (r Round) pending() float64 {
	n := 0
	for _, pulls := range r.Pending {
		n += pulls
	}
	return float64(n)
}

// calls returns the model calls of a pull of arm, 1 if the arm does not say.
func (r Round) calls(arm int) int {
	if r.Calls == nil {
		return 1
	}
	return max(r.Calls[arm], 1)
}

// cost returns what a call of arm costs, 1 if all cost the same.
func (r Round) cost(arm int) float64 {
	if r.Costs == nil {
		return 1
	}
	return r.Costs[arm]
}

// size returns what a pull of arm costs, in calls of the arm whose calls cost the least.
func (r Round) size(arm int) float64 { return float64(r.calls(arm)) * r.cost(arm) }

// A Pull is one draw of one arm.
type Pull struct {
	ID   int     // the draw's number, from 0
	Arm  int     // the arm drawn
	Prob float64 // the arm's chance when drawn: its propensity
	// Arms is the number of arms that it was drawn from, for a policy whose update depends on it. In a Pull
	// made by hand 0 will do: a policy then takes it for as many arms as it has heard of.
	Arms int
	// Calls is how many model calls were granted to the pull, at most; 0 means that it is not known. Pulls that
	// differ in size are compared by it.
	Calls int
}
