package population

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A chooser is a bandit over the islands of one search. Each draw has the child's order of birth as its address. A nil
// one has one island to choose, of which no policy hears.
type chooser struct {
	policy bandit.Policy
	player *bandit.Player
	open   []bool
}

func newChooser(policy bandit.Policy, arms int, seed uint32) *chooser {
	if arms == 1 {
		return nil
	}
	own, _ := stream.Seed(uint64(seed), "population island", 0)
	c := &chooser{policy, bandit.NewPlayer(policy, arms, own), make([]bool, arms)}
	for i := range c.open {
		c.open[i] = true
	}
	return c
}

// draw chooses one.
func (c *chooser) draw(address uint64) (pull bandit.Pull, err error) {
	if c == nil {
		return pull, nil
	}
	bad := step.Guard(named("Policy", c.policy), func() { pull, err = c.player.DrawAt(c.open, address, nil) })
	if bad != nil {
		return pull, bad
	}
	if err != nil {
		return pull, fmt.Errorf("population: choosing the island: %w", err)
	}
	return pull, nil
}

// report tells the policy what the choice was worth.
func (c *chooser) report(pull bandit.Pull, reward float64) (err error) {
	if c == nil {
		return nil
	}
	if bad := step.Guard(named("Policy", c.policy), func() { err = c.player.Report(pull.ID, reward) }); bad != nil {
		return bad
	}
	if err != nil {
		return fmt.Errorf("population: the Credit of the island: %w", err)
	}
	return nil
}

// cancel ends a choice of which nothing can be learned. The policy does not hear of it.
func (c *chooser) cancel(pull bandit.Pull) {
	if c != nil {
		_ = c.player.Cancel(pull.ID) // cannot fail: the pull is pending
	}
}
