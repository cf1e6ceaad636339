package replay

import (
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

// A Config says how a policy is played over a log.
type Config struct {
	Rounds int // pulls to play; 0 means until every search's log has ended
	// Calls is the model calls to play; 0 means no limit. A pull that would pass it is not made, and ends the play.
	Calls int
	Cap   int    // pulls of an arm after which it is closed; 0 means none. Give the logged run's, if it had one
	Seed  uint64 // of the draws; 0 is a seed like any other
}

// Play plays p over logged searches, as evolve.Run would have with one pull pending at a time; without a Reward that plays
// [bandit.Rescale] of its policy. Play returns the same as [sim.Play]. The run ends early when every arm is closed.
//
// A search that is shorter than the policy asks for closes its arm when it is asked for: that draw is
// canceled, and the next is made without the arm. As long as this does not happen, a policy draws exactly as
// it would in a live run with these scores. So the policy that made a log makes the same selections again,
// unless it was told of pulls of unlike cost ([bandit.Round.Costs]), which are not in a log.
func Play(p bandit.Policy, arms []Arm, cfg Config) (sim.Played, error) {
	if err := (Log{Arms: arms}).validate(); err != nil {
		return sim.Played{}, err
	}
	if cfg.Rounds < 0 || cfg.Cap < 0 || cfg.Calls < 0 {
		return sim.Played{}, fmt.Errorf("replay: Play of %d rounds and %d calls with a cap of %d: need at least 0", cfg.Rounds,
			cfg.Calls, cfg.Cap)
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
		for i, a := range g.arms {
			g.calls[i] = a.calls(g.pulls[i])
		}
		pull, err := g.player.DrawSized(g.open, g.calls, nil)
		if err != nil || g.pulls[pull.Arm] < g.arms[pull.Arm].Pulls() {
			return pull, err
		}
		g.open[pull.Arm] = false
		if err := g.player.Cancel(pull.ID); err != nil {
			return pull, err
		}
	}
}
