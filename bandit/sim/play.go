package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A PlayConfig says how a policy is played over simulated arms.
type PlayConfig struct {
	Rounds int    // T, the pulls to play; at least 1
	Seed   uint64 // of the draws; 0 is a seed like any other
	// N is the number of model calls of a pull that the policy is told; 0 means that it is not told.
	N int
	// InFlight is the number of pulls that may be pending at once, at most one an arm; 0 means 1.
	InFlight int
	// Delay returns how long a pull takes, in any unit; r is a stream private to the pull. Outcomes come in
	// the order in which pulls end. nil means that all pulls take equally long, so that outcomes come in the
	// order of draws.
	Delay func(r *rand.Rand) float64
}

func (c PlayConfig) validate(arms [][]float64) error {
	switch {
	case c.Rounds < 1:
		return fmt.Errorf("sim: Play of %d rounds: need at least 1", c.Rounds)
	case c.N < 0:
		return fmt.Errorf("sim: Play of pulls of %d calls: need 0 for none told, or more", c.N)
	case c.InFlight < 1:
		return fmt.Errorf("sim: Play with %d pulls pending at once: need at least 1", c.InFlight)
	case len(arms) == 0:
		return errors.New("sim: Play without arms")
	}
	for i, a := range arms {
		if len(a) == 0 {
			return fmt.Errorf("sim: arm %d has no score to start from", i)
		}
	}
	return nil
}

// A Played is the record of a policy's run. Lists by round are in the order of draws.
type Played struct {
	Selections   []int     // the arm of each round
	Propensities []float64 // its chance when drawn
	Rewards      []float64 // the arm's best score after the pull
	// Best is the best score of all arms after 0, 1, ... outcomes.
	Best []float64
}

// Play plays p over arms, of which arms[i][n] is the best score of arm i after n pulls, so arms[i][0] is what
// it starts from. Each pull's reward is the new best score of its arm, as in evolve.Run. An arm closes at the
// end of its list, and the run ends early if all are closed. Equal arguments give equal runs.
//
// It returns an error if an argument is wrong, or if the policy gives probabilities that are not a
// distribution over the open arms.
//
// The best score that T pulls can reach is max over i of arms[i][T], however they are split, since an arm's
// score depends on its own pulls alone and never falls. See [Oracle].
func Play(p bandit.Policy, arms [][]float64, cfg PlayConfig) (Played, error) {
	cfg.InFlight = cmp.Or(cfg.InFlight, 1)
	if err := cfg.validate(arms); err != nil {
		return Played{}, err
	}
	g := newSimulation(p, arms, cfg)
	for len(g.Best) <= cfg.Rounds {
		if err := g.fill(); err != nil {
			return g.Played, err
		}
		if len(g.pending) == 0 {
			break // every arm is closed
		}
		if err := g.report(); err != nil {
			return g.Played, err
		}
	}
	return g.Played, nil
}

// simulation is a run under way.
type simulation struct {
	Played
	cfg     PlayConfig
	player  *bandit.Player
	arms    [][]float64
	pulls   []int // drawn, by arm
	calls   []int // of a pull, by arm; nil if the policy is not told
	open    []bool
	ready   int // number of open arms
	pending []pendingPull
	clock   float64
	best    float64
	pcg     rand.PCG
	rand    *rand.Rand
}

// pendingPull is a pull whose outcome is not in, and when it ends.
type pendingPull struct {
	id, arm int
	ends    float64
}

func newSimulation(p bandit.Policy, arms [][]float64, cfg PlayConfig) *simulation {
	g := &simulation{
		cfg:     cfg,
		player:  bandit.NewPlayer(p, len(arms), cfg.Seed),
		arms:    arms,
		pulls:   make([]int, len(arms)),
		open:    make([]bool, len(arms)),
		pending: make([]pendingPull, 0, min(cfg.InFlight, len(arms))),
		best:    math.Inf(-1),
	}
	g.rand = rand.New(&g.pcg)
	if cfg.N > 0 {
		g.calls = slices.Repeat([]int{cfg.N}, len(arms))
	}
	g.Selections = make([]int, 0, cfg.Rounds)
	g.Propensities = make([]float64, 0, cfg.Rounds)
	g.Rewards = make([]float64, 0, cfg.Rounds)
	for i, a := range arms {
		g.best = max(g.best, a[0])
		g.reopen(i)
	}
	g.Best = append(make([]float64, 0, cfg.Rounds+1), g.best)
	return g
}

// reopen opens an arm that has no pending pull any more, unless its list has ended.
func (g *simulation) reopen(arm int) {
	if g.pulls[arm]+1 < len(g.arms[arm]) {
		g.open[arm] = true
		g.ready++
	}
}

// fill draws until as many pulls are pending as may be.
func (g *simulation) fill() error {
	for len(g.Selections) < g.cfg.Rounds && len(g.pending) < g.cfg.InFlight && g.ready > 0 {
		pull, err := g.draw()
		if err != nil {
			return err
		}
		g.open[pull.Arm] = false
		g.ready--
		g.pulls[pull.Arm]++
		g.Selections = append(g.Selections, pull.Arm)
		g.Propensities = append(g.Propensities, pull.Prob)
		g.Rewards = append(g.Rewards, g.arms[pull.Arm][g.pulls[pull.Arm]])
		g.pending = append(g.pending, pendingPull{pull.ID, pull.Arm, g.clock + g.delay(pull.ID)})
	}
	return nil
}

func (g *simulation) draw() (bandit.Pull, error) {
	if g.calls == nil {
		return g.player.Draw(g.open)
	}
	return g.player.DrawSized(g.open, g.calls, nil)
}

// delay returns how long a pull takes. Its stream is addressed by the pull's number, so policies that are
// compared meet the same delays.
func (g *simulation) delay(id int) float64 {
	if g.cfg.Delay == nil {
		return 1
	}
	g.pcg.Seed(stream.Seed(g.cfg.Seed, "delay", uint64(id)))
	return g.cfg.Delay(g.rand)
}

// report gives the policy the outcome of the pull that ends first; of equals, the one drawn first.
func (g *simulation) report() error {
	first := 0
	for i, f := range g.pending {
		if f.ends < g.pending[first].ends {
			first = i
		}
	}
	f := g.pending[first]
	g.pending = append(g.pending[:first], g.pending[first+1:]...)
	g.clock = f.ends
	g.best = max(g.best, g.Rewards[f.id])
	g.Best = append(g.Best, g.best)
	g.reopen(f.arm)
	return g.player.Report(f.id, g.Rewards[f.id])
}

// Oracle returns the best score that 0, 1, ..., rounds pulls can reach with the arms known beforehand: max
// over i of arms[i][t]. Giving all t pulls to one arm reaches it, and no other split exceeds it. An arm that
// has ended keeps its last score.
func Oracle(arms [][]float64, rounds int) []float64 {
	best := make([]float64, rounds+1)
	for t := range best {
		best[t] = math.Inf(-1)
		for _, a := range arms {
			best[t] = max(best[t], a[min(t, len(a)-1)])
		}
	}
	return best
}
