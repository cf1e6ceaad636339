package evolve

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// Config says what [Run] runs.
type Config struct {
	Arms []Arm // at least one
	// Policy draws the arm that gets the next step; nil is allowed with one arm.
	Policy bandit.Policy
	Budget Budget // at least one limit
	// Reward is what the policy is told of a step; it must be finite. nil means the arm's best score after the step. While
	// it has no valid candidate, that is the lowest such score of the run so far, 0 before there is one. Policy then is
	// [bandit.Rescale] of the one given, as it may expect rewards in [0, 1]. With a Reward, such as [RawScore], it stays.
	Reward func(Generation) float64
	// InFlight is how many arms are advanced at once, each by at most one pull; 0 means 1.
	//
	// With more than 1 the order of draws depends on which step ends first. A slot of an [llm.Limit] can
	// still stand idle then, because the arms in flight only wait for their slowest replies. In that case one
	// more arm is drawn, up to twice InFlight.
	InFlight int
	Seed     uint64 // of the draws; 0 is a seed like another
	// Grace is how long calls that are under way may go on once the context has ended; 0 means not at all.
	// They are paid for, so what their replies hold is scored and recorded if they end in time.
	Grace time.Duration
	// Journal makes the run durable: it records every reply, every evaluation and every decision, and gives
	// those of earlier incarnations back. nil means that the run cannot be resumed. There is nothing else to
	// wire: what arms ask through their [Turn] is recorded.
	Journal *journal.Journal
	// ValidStart says that an arm must not begin with a program that was evaluated and is invalid. If one does,
	// the run ends with [ErrInvalidStart] before a model is asked. Without ValidStart the run goes on, and any
	// valid child is better than such a program.
	ValidStart bool
	// Audit has a second evaluator score the best of each step; nil means that there is none.
	Audit *Audit
	// Observer is called with every event, in order, on Run's goroutine; nil means nobody. The run waits until
	// it returns, so it must not wait for the run.
	Observer func(Event)
}

// ErrInvalidStart says that an arm begins with an invalid program, and [Config.ValidStart] forbids that. The
// reason is in the Start of the arm's result.
var ErrInvalidStart = errors.New("an arm begins with an invalid program")

// withDefaults returns c with its defaults filled in. Only with one arm has the policy a default: with several
// it is what the run is about, and a silent choice would be a result that nobody asked for.
func (c Config) withDefaults() Config {
	c.InFlight = cmp.Or(c.InFlight, 1)
	if c.Policy == nil && len(c.Arms) == 1 {
		c.Policy = bandit.Random{}
	}
	if c.Reward == nil {
		c.Reward = bestScore()
		if c.Policy != nil {
			c.Policy = bandit.Rescale(c.Policy)
		}
	}
	if c.Observer == nil {
		c.Observer = func(Event) {}
	}
	return c
}

// RawScore is the reward of the BaSE paper: the arm's best score after the step, 0 while it has no valid candidate.
func RawScore(g Generation) float64 { return g.Best.Result.Score }

// bestScore returns the default Reward of one run.
func bestScore() func(Generation) float64 {
	lowest, some := 0.0, false
	return func(g Generation) float64 {
		if !g.Best.Result.Valid {
			return lowest
		}
		if score := g.Best.Result.Score; !some || score < lowest {
			lowest, some = score, true
		}
		return g.Best.Result.Score
	}
}

func (c Config) validate() error {
	switch {
	case len(c.Arms) == 0:
		return errors.New("evolve: Config.Arms is empty: need at least 1 arm")
	case c.Policy == nil:
		return fmt.Errorf("evolve: Config.Policy is nil with %d arms", len(c.Arms))
	case c.InFlight < 1:
		return fmt.Errorf("evolve: Config.InFlight is %d: need at least 1, or 0 for the default", c.InFlight)
	case c.Grace < 0:
		return fmt.Errorf("evolve: Config.Grace is %v: need 0 or more", c.Grace)
	}
	if err := c.Audit.validate(c.Arms); err != nil {
		return err
	}
	return c.Budget.validate()
}
