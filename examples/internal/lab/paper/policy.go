package paper

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
)

// A Policy is one of the paper's as a [bandit.Policy], to play it over a run's arms. Where one pull is
// pending at a time it makes the very selections of an [Allocator] with the same Config. Its cap is that of
// the run: exhausted arms come as closed ones, and the fallback is the same.
//
// It chooses once per draw and keeps the choice, so probabilities are 0 and 1 and asking twice changes
// nothing. The logged propensity of 1 is that of the choice, not that of the policy's own lottery. With
// several pulls pending it draws on from its one stream and learns late; the paper has no such case. As it
// draws from a stream of its own, it is bound to its number of arms and to being asked draw by draw, so
// bandittest.Run does not fit it.
type Policy struct {
	cfg    Config
	policy chooser
	pulls  []int
	draw   int // the draw that raw is for; −1 before the first
	raw    int
}

var _ bandit.Policy = (*Policy)(nil)

// NewPolicy returns a Policy for cfg.Arms arms. It returns an error if cfg is wrong or has a cap, which is
// for the run to have.
func NewPolicy(cfg Config) (*Policy, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Cap != 0 {
		return nil, fmt.Errorf("paper: a Policy with a cap of %d rounds per arm: give the cap to the run, which closes "+
			"the arms", cfg.Cap)
	}
	return &Policy{cfg: cfg, policy: newChooser(cfg), pulls: make([]int, cfg.Arms), draw: -1}, nil
}

// Probs gives mass 1 to the arm chosen for draw r.T, or to its fallback if that is closed. It panics if
// the number of arms is not the Config's.
func (p *Policy) Probs(probs []float64, r bandit.Round) {
	must(len(probs) == p.cfg.Arms, "%v over %d arms", p, len(probs))
	if r.T != p.draw {
		p.draw, p.raw = r.T, p.policy.choose()
	}
	clear(probs)
	probs[fallback(p.raw, p.pulls, func(arm int) bool { return r.Open[arm] })] = 1
}

// Update records one outcome. A reward of NaN counts as 0, against the rule of [bandit.Policy].
func (p *Policy) Update(pull bandit.Pull, reward float64) {
	p.pulls[pull.Arm]++
	p.policy.update(pull.Arm, taken(reward))
}

// String names the policy, its arms and its seed.
func (p *Policy) String() string {
	return fmt.Sprintf("Paper(%s, arms=%d, seed=%d)", p.cfg.Algo, p.cfg.Arms, p.cfg.Seed)
}
