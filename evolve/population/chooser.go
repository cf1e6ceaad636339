package population

import (
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	fault "github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A chooser is a bandit over the islands or the settings of one search. Each draw has the child's order of birth as
// its address.
type chooser struct {
	what   string
	policy bandit.Policy
	arms   int
	player *bandit.Player
}

// A pull is a choice that was made. Where there was nothing to choose from, no policy hears of it.
type pull struct {
	arm, id int
	drawn   bool
}

func newChooser(what string, policy bandit.Policy, arms int, seed uint32) *chooser {
	own, _ := stream.Seed(uint64(seed), "population "+what, 0)
	return &chooser{what, policy, arms, bandit.NewPlayer(policy, arms, own)}
}

// draw chooses one of those that are open.
func (c *chooser) draw(open []bool, address uint64) (pull, error) {
	if c.arms == 1 && open[0] {
		return pull{}, nil
	}
	var drawn bandit.Pull
	var err error
	if bad := fault.Guard(named("Policy", c.policy), func() { drawn, err = c.player.DrawAt(open, address, nil) }); bad != nil {
		return pull{}, bad
	}
	switch {
	case errors.Is(err, bandit.ErrNoArm):
		return pull{}, fmt.Errorf("population: no %s is open", c.what)
	case err != nil:
		return pull{}, fmt.Errorf("population: choosing the %s: %w", c.what, err)
	}
	return pull{drawn.Arm, drawn.ID, true}, nil
}

// report tells the policy what the choice was worth.
func (c *chooser) report(p pull, reward float64) (err error) {
	if c == nil || !p.drawn {
		return nil
	}
	if bad := fault.Guard(named("Policy", c.policy), func() { err = c.player.Report(p.id, reward) }); bad != nil {
		return bad
	}
	if err != nil {
		return fmt.Errorf("population: the Credit of the %s: %w", c.what, err)
	}
	return nil
}

// cancel ends a choice of which nothing can be learned. The policy does not hear of it.
func (c *chooser) cancel(p pull) {
	if c != nil && p.drawn {
		_ = c.player.Cancel(p.id) // cannot fail: the pull is pending
	}
}
