package bandittest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
)

// A game plays a policy itself, since a [bandit.Player] never asks twice about one draw.
type game struct {
	policy  bandit.Policy
	seed    uint64
	t       int
	open    []bool
	pending []int
	calls   []int      // of a pull, by arm; nil if the policy is not told
	costs   []float64  // of a call, by arm; nil if the policy is not told
	rng     *rand.Rand // the game's own choices; the policy has streams of its own
}

func newGame(p bandit.Policy, arms int, seed uint64) *game {
	g := &game{policy: p, seed: seed, open: make([]bool, arms), pending: make([]int, arms),
		rng: rand.New(rand.NewPCG(seed, 1))}
	g.openAll()
	return g
}

func (g *game) openAll() {
	for arm := range g.open {
		g.open[arm] = true
	}
}

// openSome opens each arm with a chance of one half, and at least one.
func (g *game) openSome() {
	for arm := range g.open {
		g.open[arm] = g.rng.IntN(2) == 0
	}
	g.open[g.rng.IntN(len(g.open))] = true
}

// resize draws the calls of each arm's next pull, from 1 to a thousand. One arm in eight does not say, and in one draw
// of eight none does. The calls of a pending pull stay.
func (g *game) resize() {
	before := g.calls
	if g.calls = nil; g.rng.IntN(8) == 0 {
		return
	}
	g.calls = make([]int, len(g.open))
	for arm := range g.calls {
		switch {
		case before != nil && g.pending[arm] > 0:
			g.calls[arm] = before[arm]
		case g.rng.IntN(8) > 0:
			g.calls[arm] = 1 << g.rng.IntN(11)
		}
	}
}

// probs asks the policy about the coming draw and checks its answer.
func (g *game) probs() ([]float64, error) { return g.ask(g.seed) }

// ask is probs with another random stream for the policy.
func (g *game) ask(stream uint64) ([]float64, error) {
	p, open, pending, calls := make([]float64, len(g.open)), slices.Clone(g.open), slices.Clone(g.pending),
		slices.Clone(g.calls)
	costs := slices.Clone(g.costs)
	r := bandit.Round{T: g.t, Open: open, Pending: pending, Calls: calls, Costs: costs,
		Rand: rand.New(rand.NewPCG(stream, uint64(g.t)))}
	g.policy.Probs(p, r)
	if !slices.Equal(open, g.open) || !slices.Equal(pending, g.pending) || !slices.Equal(calls, g.calls) ||
		!slices.Equal(costs, g.costs) {
		return nil, fmt.Errorf("draw %d: the Round was changed by Probs", g.t)
	}
	if err := distribution(p, g.open); err != nil {
		return nil, fmt.Errorf("draw %d: %w", g.t, err)
	}
	return p, nil
}

// draw asks the policy and draws an arm.
func (g *game) draw() (bandit.Pull, error) {
	p, err := g.probs()
	if err != nil {
		return bandit.Pull{}, err
	}
	return g.pull(p), nil
}

// pull draws an arm from p.
func (g *game) pull(p []float64) bandit.Pull {
	u, arm := g.rng.Float64(), 0
	for i, v := range p {
		if v > 0 {
			if arm = i; u < v {
				break
			}
			u -= v
		}
	}
	pull := bandit.Pull{ID: g.t, Arm: arm, Prob: p[arm], Arms: len(p)}
	if g.calls != nil {
		pull.Calls = g.calls[arm]
	}
	g.take(pull)
	return pull
}

func (g *game) take(pull bandit.Pull) {
	g.t++
	g.pending[pull.Arm]++
}

func (g *game) report(pull bandit.Pull, reward float64) {
	g.cancel(pull)
	g.policy.Update(pull, reward)
}

func (g *game) cancel(pull bandit.Pull) { g.pending[pull.Arm]-- }

// play draws and reports one pull at a time.
func (g *game) play(rounds int, reward func(bandit.Pull) float64) error {
	for range rounds {
		pull, err := g.draw()
		if err != nil {
			return err
		}
		g.report(pull, reward(pull))
	}
	return nil
}

// noisy returns a reward in [0, 1] that is larger on average the higher the arm.
func (g *game) noisy(pull bandit.Pull) float64 {
	mean := float64(pull.Arm+1) / float64(len(g.open)+1)
	return min(max(mean+0.2*g.rng.NormFloat64(), 0), 1)
}

// tolerance is how far from 1 probabilities may sum.
const tolerance = 1e-9

// distribution returns an error if p is not a distribution over the open arms.
func distribution(p []float64, open []bool) error {
	var sum float64
	for arm, v := range p {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0) || v < 0:
			return fmt.Errorf("probability %v of arm %d", v, arm)
		case v > 0 && !open[arm]:
			return fmt.Errorf("probability %v of arm %d, which is closed", v, arm)
		}
		sum += v
	}
	if math.Abs(sum-1) > tolerance {
		return fmt.Errorf("probabilities over %d arms sum to %v", len(p), sum)
	}
	return nil
}
