package bandit

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/internal/stream"
)

// ErrNoArm is returned by [Player.Draw] when every arm is closed.
var ErrNoArm = errors.New("bandit: no arm is open")

// A Player draws pulls from a [Policy] and routes their outcomes back to it. Each draw has a random stream of
// its own, addressed by the seed and the draw's number. So a draw depends on the outcomes reported before it,
// and on nothing else. It is not safe for concurrent use.
type Player struct {
	policy  Policy
	seed    uint64
	t       int
	probs   []float64
	pending []int        // how many pulls are, by arm
	pulls   map[int]Pull // those that are pending, by ID
	pcg     *rand.PCG
	rand    *rand.Rand
}

// NewPlayer returns a Player of p over the given number of arms. It panics if p is nil or arms is below 1.
func NewPlayer(p Policy, arms int, seed uint64) *Player {
	if p == nil || arms < 1 {
		panic(fmt.Sprintf("bandit: NewPlayer(%v, %d arms): need a policy and at least 1 arm", p, arms))
	}
	pcg := rand.NewPCG(0, 0)
	return &Player{
		policy:  p,
		seed:    seed,
		probs:   make([]float64, arms),
		pending: make([]int, arms),
		pulls:   make(map[int]Pull),
		pcg:     pcg,
		rand:    rand.New(pcg),
	}
}

// Draw asks the policy for its probabilities over the open arms and draws one arm. The pull is pending until
// Report or Cancel.
//
// It returns [ErrNoArm] if no arm is open. If the probabilities are negative, not finite, on a closed arm, or
// do not sum to 1 within 1e-6, it returns an error that names the policy and the value. It panics if
// len(open) is not the number of arms.
func (pl *Player) Draw(open []bool) (Pull, error) {
	return pl.draw(open, nil, nil, "draw", "pick", uint64(pl.t))
}

// DrawSized is Draw for pulls that differ in size: calls is how many model calls a pull of each arm makes, as in
// [Round.Calls]. The pull drawn has its arm's as [Pull.Calls]. costs is what such a call costs, as in [Round.Costs],
// nil if all cost the same. It panics if the length of calls, or of costs, is not the number of arms, or if a cost is
// below 1 or not finite.
func (pl *Player) DrawSized(open []bool, calls []int, costs []float64) (Pull, error) {
	if len(calls) != len(pl.probs) || costs != nil && len(costs) != len(pl.probs) {
		panic(fmt.Sprintf("bandit: DrawSized with calls of %d arms and costs of %d for %d arms", len(calls), len(costs),
			len(pl.probs)))
	}
	for arm, cost := range costs {
		if !(cost >= 1 && finite(cost)) {
			panic(fmt.Sprintf("bandit: DrawSized with a cost of %v of arm %d: need at least 1, that of the cheapest", cost, arm))
		}
	}
	return pl.draw(open, calls, costs, "draw", "pick", uint64(pl.t))
}

// DrawAt is Draw with the random stream at (seed, address) in place of the draw's number, and with costs as DrawSized
// has them. It is for pulls that have an address of their own, such as a child's order of birth: then what a pull draws
// does not depend on how many were drawn before. A policy that uses [Round.T] or [Round.Pending] still sees that.
func (pl *Player) DrawAt(open []bool, address uint64, costs []float64) (Pull, error) {
	return pl.draw(open, nil, costs, "draw at", "pick at", address)
}

func (pl *Player) draw(open []bool, calls []int, costs []float64, probs, which string, address uint64) (Pull, error) {
	if len(open) != len(pl.probs) {
		panic(fmt.Sprintf("bandit: Draw with %d entries for %d arms", len(open), len(pl.probs)))
	}
	if !slices.Contains(open, true) {
		return Pull{}, ErrNoArm
	}
	pl.pcg.Seed(stream.Seed(pl.seed, probs, address))
	clear(pl.probs)
	pl.policy.Probs(pl.probs, Round{T: pl.t, Open: open, Pending: pl.pending, Rand: pl.rand, Calls: calls, Costs: costs})
	if err := check(pl.probs, open); err != nil {
		return Pull{}, fmt.Errorf("bandit: %s at draw %d: %w", nameOf(pl.policy), pl.t, err)
	}
	// The draw has a stream apart from the policy's, so that a policy that uses its own
	// (Monte Carlo probabilities) does not sway which arm comes out.
	pl.pcg.Seed(stream.Seed(pl.seed, which, address))
	arm := pick(pl.probs, pl.rand.Float64())
	size := 0
	if calls != nil {
		size = calls[arm]
	}
	return pl.start(arm, min(pl.probs[arm], 1), size), nil // sums of chances may pass 1 by rounding
}

// Adopt makes a pull pending that was drawn elsewhere, such as by an earlier incarnation of the run. prob is
// the propensity that it had there. Report then updates the policy as it did there. The pull counts as a
// draw.
//
// It returns an error if there is no such arm, or if prob is not in (0, 1].
func (pl *Player) Adopt(arm int, prob float64) (Pull, error) {
	if arm < 0 || arm >= len(pl.probs) {
		return Pull{}, fmt.Errorf("bandit: adopting a pull of arm %d of %d", arm, len(pl.probs))
	}
	if !(prob > 0 && prob <= 1) {
		return Pull{}, fmt.Errorf("bandit: adopting a pull with propensity %v: need a chance above 0", prob)
	}
	return pl.start(arm, prob, 0), nil
}

// start makes a pull pending.
func (pl *Player) start(arm int, prob float64, calls int) Pull {
	pull := Pull{ID: pl.t, Arm: arm, Prob: prob, Arms: len(pl.probs), Calls: calls}
	pl.t++
	pl.pending[arm]++
	pl.pulls[pull.ID] = pull
	return pull
}

// Report gives the policy the outcome of a pending pull. The reward must be finite.
func (pl *Player) Report(id int, reward float64) error {
	pull, ok := pl.pulls[id]
	if !ok {
		return fmt.Errorf("bandit: report of pull %d, which is not pending", id)
	}
	if math.IsNaN(reward) || math.IsInf(reward, 0) {
		return fmt.Errorf("bandit: reward %v of pull %d is not finite", reward, id)
	}
	pl.end(pull)
	pl.policy.Update(pull, reward)
	return nil
}

// Cancel ends a pending pull without an outcome. The policy does not hear of it.
func (pl *Player) Cancel(id int) error {
	pull, ok := pl.pulls[id]
	if !ok {
		return fmt.Errorf("bandit: cancel of pull %d, which is not pending", id)
	}
	pl.end(pull)
	return nil
}

// InFlight returns the number of pending pulls: those drawn and neither reported nor canceled.
func (pl *Player) InFlight() int { return len(pl.pulls) }

// end takes a pull out of those that are pending.
func (pl *Player) end(pull Pull) {
	delete(pl.pulls, pull.ID)
	pl.pending[pull.Arm]--
}

// check returns an error if p is not a distribution over the open arms. It allows for rounding in the sum: the
// propensities would be off by no more than that.
func check(p []float64, open []bool) error {
	var sum float64
	for i, v := range p {
		switch {
		case math.IsNaN(v) || v < 0 || math.IsInf(v, 0):
			return fmt.Errorf("probability %v of arm %d", v, i)
		case v > 0 && !open[i]:
			return fmt.Errorf("probability %v of arm %d, which is closed", v, i)
		}
		sum += v
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("probabilities sum to %v", sum)
	}
	return nil
}

// pick returns the arm at quantile u of p. If rounding in the sum leaves u beyond all arms, that is the last
// arm with mass.
func pick(p []float64, u float64) int {
	last := -1
	for i, v := range p {
		if v == 0 {
			continue
		}
		last = i
		if u < v {
			return i
		}
		u -= v
	}
	return last
}
