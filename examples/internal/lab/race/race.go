package race

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A Config says how a policy is played over searches whose steps may have any number of children, and how long
// children take.
type Config struct {
	Calls int    // children to make in all; at least 1
	Seed  uint64 // of the draws and the latencies
	// Breadth decides how many children each step of a search makes; nil means one.
	Breadth evolve.Breadth
	// Breadths are those of each search, for a race between breadths; nil means that all have Breadth.
	Breadths []evolve.Breadth
	// InFlight is the number of pulls that may be pending at once, at most one a search; 0 means 1.
	InFlight int
	// Slots is how many children are made at once: those of all pending pulls take them in the order in which the
	// pulls were drawn. 0 means all.
	Slots int
	// Window is how many children of a step are under way at once; 0 means all. In a step of more, each child is
	// taken in as it ends, and a better one is the parent of those begun after it, as with evolve.AsTheyEnd and
	// the Window of evolve.GreedyConfig. One step of many children is then a steady-state search.
	Window int
	// Latency returns how many seconds a child takes. nil means that each takes one.
	Latency func(r *rand.Rand) float64
}

func (c Config) validate(searches []Search) error {
	switch {
	case c.Calls < 1:
		return fmt.Errorf("race: Run of %d calls: need at least 1", c.Calls)
	case c.InFlight < 1:
		return fmt.Errorf("race: Run with %d pulls pending at once: need at least 1", c.InFlight)
	case c.Slots < 0:
		return fmt.Errorf("race: Run with %d slots: need 0 for no limit, or more", c.Slots)
	case c.Window < 0:
		return fmt.Errorf("race: Run with a window of %d children: need 0 for all of a step, or more", c.Window)
	case len(searches) == 0:
		return errors.New("race: Run without searches")
	case c.Breadths != nil && len(c.Breadths) != len(searches):
		return fmt.Errorf("race: Run of %d searches with %d breadths: need one for each, or nil",
			len(searches), len(c.Breadths))
	}
	return nil
}

// breadth returns what decides how wide the steps of a search are.
func (c Config) breadth(search int) evolve.Breadth {
	if c.Breadths == nil {
		return c.Breadth
	}
	return c.Breadths[search]
}

// A Record is what happened in a race.
type Record struct {
	Steps   []Step    // in the order in which they ended
	Best    []float64 // the best score of all searches after 0, 1, ..., Calls children were taken in
	Seconds float64   // until the last child was
}

// A Step is one pull of a race.
type Step struct {
	Arm, Children int
	Score         float64 // the arm's best after it, which is the reward
	Began, Ended  float64 // in seconds
}

// Run plays p over searches, whose steps are as wide as cfg.Breadth says, until cfg.Calls children are made. Each
// pull's reward is the best score of its search, and the policy is told how many calls pulls make, as in evolve.Run.
// Equal arguments give equal races, if the searches are fresh.
//
// It returns an error if an argument is wrong, if the policy gives probabilities that are not a distribution, or if
// the breadth asks for less than one child.
func Run(p bandit.Policy, searches []Search, cfg Config) (Record, error) {
	cfg.InFlight = cmp.Or(cfg.InFlight, 1)
	if cfg.Breadth == nil {
		cfg.Breadth = breadth.Fixed(1)
	}
	if err := cfg.validate(searches); err != nil {
		return Record{}, err
	}
	r := newRace(p, searches, cfg)
	for {
		if err := r.fill(); err != nil {
			return r.Record, err
		}
		if len(r.pending) == 0 {
			return r.Record, nil
		}
		if err := r.report(); err != nil {
			return r.Record, err
		}
	}
}

// race is a race under way.
type race struct {
	Record
	cfg      Config
	player   *bandit.Player
	searches []Search
	past     [][]evolve.Made // by search
	open     []bool
	calls    []int // of the next or the pending pull, by search
	left     int   // children to make
	pending  []pendingStep
	free     []float64 // when each slot is free
	clock    float64
	pcg      rand.PCG
	rand     *rand.Rand
}

// pendingStep is a pull whose outcome is not in.
type pendingStep struct {
	Step
	id, better int
}

func newRace(p bandit.Policy, searches []Search, cfg Config) *race {
	r := &race{
		cfg: cfg, player: bandit.NewPlayer(p, len(searches), cfg.Seed), searches: searches, left: cfg.Calls,
		past: make([][]evolve.Made, len(searches)), open: make([]bool, len(searches)), calls: make([]int, len(searches)),
		free: make([]float64, cfg.Slots),
	}
	r.rand = rand.New(&r.pcg)
	best := math.Inf(-1)
	for i, s := range searches {
		r.open[i] = true
		best = max(best, s.Best())
	}
	r.Best = append(make([]float64, 0, cfg.Calls+1), best)
	return r
}

// fill draws until as many pulls are pending as may be.
func (r *race) fill() error {
	for r.left > 0 && len(r.pending) < min(r.cfg.InFlight, len(r.searches)) {
		for i, open := range r.open {
			if !open {
				continue // its pull is pending
			}
			b := r.cfg.breadth(i)
			n := b.Children(r.past[i])
			if n < 1 {
				return fmt.Errorf("race: Breadth %v asks for %d children: need at least 1", b, n)
			}
			r.calls[i] = min(n, r.left)
		}
		pull, err := r.player.DrawSized(r.open, r.calls, nil)
		if err != nil {
			return err
		}
		r.start(pull)
	}
	return nil
}

// start makes the children of a pull.
func (r *race) start(pull bandit.Pull) {
	r.open[pull.Arm] = false
	r.left -= pull.Calls
	r.pcg.Seed(stream.Seed(r.cfg.Seed, "latency", uint64(pull.ID)))
	s, step := r.searches[pull.Arm], pendingStep{id: pull.ID}
	step.Step = Step{Arm: pull.Arm, Children: pull.Calls, Began: r.clock, Ended: r.clock}
	if w := r.cfg.Window; w > 0 && w < pull.Calls {
		step.better, step.Ended = r.slide(s, pull.Calls, w)
	} else {
		step.better = s.Step(pull.Calls)
		for range pull.Calls {
			step.Ended = max(step.Ended, r.ends(r.clock))
		}
	}
	step.Score = s.Best()
	r.pending = append(r.pending, step)
}

// slide makes n children, of which no more than a window are under way at once. It returns how many are better than the
// best score before all of them, and when the last one is made.
func (r *race) slide(s Search, n, window int) (better int, now float64) {
	type underWay struct {
		child Child
		ends  float64
	}
	var all []underWay // in the order in which they were begun
	before, now := s.Best(), r.clock
	for n > 0 || len(all) > 0 {
		if n > 0 && len(all) < window {
			all = append(all, underWay{s.Child(), r.ends(now)})
			n--
			continue
		}
		first := 0
		for i, u := range all {
			if u.ends < all[first].ends {
				first = i
			}
		}
		now = all[first].ends
		if s.Take(all[first].child) > before {
			better++
		}
		all = slices.Delete(all, first, first+1)
	}
	return better, now
}

// ends returns when a child is made that is begun now, in the slot that is free first.
func (r *race) ends(now float64) float64 {
	took := 1.0
	if r.cfg.Latency != nil {
		took = r.cfg.Latency(r.rand)
	}
	if len(r.free) == 0 {
		return now + took
	}
	next := 0
	for i, at := range r.free {
		if at < r.free[next] {
			next = i
		}
	}
	r.free[next] = max(now, r.free[next]) + took
	return r.free[next]
}

// report gives the policy the outcome of the pull that ends first; of equals, the one drawn first.
func (r *race) report() error {
	first := 0
	for i, f := range r.pending {
		if f.Ended < r.pending[first].Ended {
			first = i
		}
	}
	f := r.pending[first]
	r.pending = slices.Delete(r.pending, first, first+1)
	r.clock, r.Seconds = f.Ended, f.Ended
	r.Steps = append(r.Steps, f.Step)
	best := r.Best[len(r.Best)-1]
	for range f.Children - 1 { // the score is known when all of its children are
		r.Best = append(r.Best, best)
	}
	r.Best = append(r.Best, max(best, f.Score))
	r.open[f.Arm] = true
	elapsed := time.Duration((f.Ended - f.Began) * float64(time.Second)).Round(time.Millisecond)
	r.past[f.Arm] = append(r.past[f.Arm], evolve.Made{Children: f.Children, Better: f.better, Elapsed: elapsed})
	return r.player.Report(f.id, f.Score)
}
