package replay

import (
	"errors"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

// A Config says how a policy is played over a log.
type Config struct {
	Rounds int // pulls to play; 0 means until every search's log has ended
	// Calls is the model calls to play; 0 means no limit. A pull that would pass it is not made, and ends the play. Every
	// pull must say its calls.
	Calls int
	Cap   int    // pulls of an arm after which it is closed; 0 means none. Give the logged run's, if it had one
	Seed  uint64 // of the draws; 0 is a seed like any other
}

// Play plays p over logged searches, as evolve.Run would have with one pull pending at a time. It returns the
// same as [sim.Play]. The run ends early when every arm is closed.
//
// A search that is shorter than the policy asks for closes its arm when it is asked for: that draw is
// canceled, and the next is made without the arm. As long as this does not happen, a policy draws exactly as
// it would in a live run with these scores. So the policy that made a log makes the same selections again
// ([Verify]).
func Play(p bandit.Policy, arms []Arm, cfg Config) (sim.Played, error) {
	if err := (Log{Arms: arms}).validate(); err != nil {
		return sim.Played{}, err
	}
	switch {
	case cfg.Rounds < 0 || cfg.Cap < 0:
		return sim.Played{}, fmt.Errorf("replay: Play of %d rounds with a cap of %d: need at least 0", cfg.Rounds, cfg.Cap)
	case cfg.Calls < 0:
		return sim.Played{}, fmt.Errorf("replay: Play of %d calls: need at least 0", cfg.Calls)
	case cfg.Calls > 0 && Size(arms) == 0:
		return sim.Played{}, errors.New("replay: Play of a number of calls over a log that does not say how many its pulls " +
			"made: give Rounds")
	}
	g := newGame(p, arms, cfg)
	for cfg.Rounds == 0 || len(g.Selections) < cfg.Rounds {
		err := g.round()
		if errors.Is(err, bandit.ErrNoArm) || errors.Is(err, errSpent) {
			break
		}
		if err != nil {
			return g.Played, fmt.Errorf("replay: %w", err)
		}
	}
	return g.Played, nil
}

// errSpent ends a play: the pull drawn has no room in Config.Calls.
var errSpent = errors.New("the calls are spent")

// game is a run over a log.
type game struct {
	sim.Played
	cfg    Config
	player *bandit.Player
	arms   []Arm
	pulls  []int
	open   []bool
	calls  []int // of the next pull, by arm
	spent  int   // calls
}

func newGame(p bandit.Policy, arms []Arm, cfg Config) *game {
	g := &game{cfg: cfg, player: bandit.NewPlayer(p, len(arms), cfg.Seed), arms: arms, pulls: make([]int, len(arms)),
		open: make([]bool, len(arms)), calls: make([]int, len(arms))}
	best := arms[0].Best[0]
	for i, a := range arms {
		best = max(best, a.Best[0])
		g.open[i] = true
	}
	g.Best = []float64{best}
	return g
}

// round plays one pull.
func (g *game) round() error {
	pull, err := g.draw()
	if err != nil {
		return err
	}
	arm := pull.Arm
	if g.cfg.Calls > 0 && g.spent+pull.Calls > g.cfg.Calls {
		return errSpent
	}
	g.spent += pull.Calls
	g.pulls[arm]++
	g.open[arm] = g.cfg.Cap == 0 || g.pulls[arm] < g.cfg.Cap
	reward := g.arms[arm].Reward(g.pulls[arm])
	g.Selections = append(g.Selections, arm)
	g.Propensities = append(g.Propensities, pull.Prob)
	g.Rewards = append(g.Rewards, reward)
	g.Best = append(g.Best, max(g.Best[len(g.Best)-1], g.arms[arm].Best[g.pulls[arm]]))
	return g.player.Report(pull.ID, reward)
}

// draw draws until the log of the arm drawn goes on.
func (g *game) draw() (bandit.Pull, error) {
	for {
		pull, err := g.next()
		if err != nil || g.pulls[pull.Arm] < g.arms[pull.Arm].Pulls() {
			return pull, err
		}
		g.open[pull.Arm] = false
		if err := g.player.Cancel(pull.ID); err != nil {
			return pull, err
		}
	}
}

// next draws, and tells the policy the calls of pulls if the log has them.
func (g *game) next() (bandit.Pull, error) {
	if !sizes(g.calls, g.arms, g.pulls) {
		return g.player.Draw(g.open)
	}
	return g.player.DrawSized(g.open, g.calls, nil)
}

// Verify replays the run in l with the policy that is said to have made it. It returns an error that names
// the first round in which p draws another arm, or draws it with another propensity. limit is the cap of
// rounds per arm that the run had, 0 for none. p must be fresh. The run must have had one pull pending at a
// time, since a log does not tell in which order outcomes came in.
//
// How many calls the pull after an arm's last would have made is not in the log. Verify takes them for as many as the
// last made. So of a run with an evolve.Breadth, a policy that asks for them, such as bandit.ExpectedImprovement, may
// now and then draw otherwise here. Nor are the costs of pulls in the log: of a run whose policy was told of some
// ([bandit.Round.Costs]), Verify may fail.
func Verify(l Log, p bandit.Policy, limit int) error {
	if l.Run == nil {
		return errors.New("replay: Verify of a log without a bandit's run")
	}
	if err := l.validate(); err != nil {
		return err
	}
	played, err := Play(p, l.Arms, Config{Rounds: len(l.Run.Selections), Cap: limit, Seed: l.Run.Seed})
	if err != nil {
		return err
	}
	for i, arm := range l.Run.Selections {
		switch {
		case i >= len(played.Selections) || played.Selections[i] != arm:
			return fmt.Errorf("replay: round %d: %v draws another arm than the log's %d", i, p, arm)
		case l.Run.Propensities != nil && math.Abs(played.Propensities[i]-l.Run.Propensities[i]) > 1e-9:
			return fmt.Errorf("replay: round %d: %v draws arm %d with propensity %v, the log has %v", i, p, arm,
				played.Propensities[i], l.Run.Propensities[i])
		}
	}
	return nil
}
