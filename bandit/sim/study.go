package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/evoalloc/evoalloc/bandit"
)

// A Contender is a policy to compare with others.
type Contender struct {
	Name string // in results; contenders of one study differ in it
	// New returns a fresh policy for one run. It is given the setting, for a policy that wants to know the
	// number of rounds or arms. It is called from several goroutines at once. What a policy learns of the
	// family beforehand should come from seeds that are not played.
	New func(s Setting) bandit.Policy
	// Arms is how many of the setting's arms the policy has, the first ones; 0 means all. With 1 it is one search
	// with the whole budget: the baseline that any allocation has to beat.
	Arms int
	// Play plays one run in place of [Play], for a contender that does more than choose among the setting's arms: with
	// searches of its own, or steps of another width. It returns the best score after 0, 1, ..., T times N calls, or
	// fewer if the run ended early, and how many simulated seconds the run took, or 0. New and Arms have no effect
	// then. Play is called from several goroutines at once. nil means [Play] with New and Arms.
	Play func(s Setting, seed uint64) (best []float64, seconds float64, err error)
}

// A Setting is what policies are played over: K arms of a family, for T pulls of N children each.
type Setting struct {
	Family Family // what makes the arms
	Arms   int    // K, at least 1
	N      int    // children to a generation, which policies are told as the calls of a pull; 0 means 1
	Rounds int    // T, at least 1
}

// Calls returns T·N, the model calls of a run.
func (s Setting) Calls() int { return s.Rounds * max(s.N, 1) }

// String names the family, K, N and T: "draws K=8 N=1 T=256".
func (s Setting) String() string {
	return fmt.Sprintf("%v K=%d N=%d T=%d", s.Family, s.Arms, max(s.N, 1), s.Rounds)
}

// A StudyConfig says what to compare.
type StudyConfig struct {
	Contenders []Contender // at least one; names differ
	Settings   []Setting   // at least one
	Seed       uint64      // of the first run; the others have the seeds after it
	Runs       int         // runs of each policy in each setting; 0 means 100
	// Multiples are the scores to reach, each by the pulls that it takes without a policy. Multiple m stands
	// for the highest score that [RoundRobin] has reached in at least nine of ten runs after m·T pulls. More
	// than K counts as K, which is all the pulls that the arms have. nil means ½, 1 and 2.
	Multiples []float64
	Scores    []float64                  // further scores to reach, as they are
	InFlight  int                        // as in PlayConfig
	Delay     func(r *rand.Rand) float64 // as in PlayConfig
	Parallel  int                        // runs at once; 0 means one a processor
	// Progress is called after each run of all policies in one setting, from several goroutines at once. nil
	// means that it is not called.
	Progress func()
}

// reliableShare is the share of runs that have to reach a score for it to count as reached reliably.
const reliableShare = 0.9

func (c StudyConfig) withDefaults() StudyConfig {
	c.Runs = cmp.Or(c.Runs, 100)
	c.InFlight = cmp.Or(c.InFlight, 1)
	c.Parallel = cmp.Or(c.Parallel, runtime.GOMAXPROCS(0))
	if c.Multiples == nil {
		c.Multiples = []float64{0.5, 1, 2}
	}
	if c.Progress == nil {
		c.Progress = func() {}
	}
	return c
}

func (c StudyConfig) validate() error {
	switch {
	case len(c.Contenders) == 0:
		return errors.New("sim: a study without policies")
	case len(c.Settings) == 0:
		return errors.New("sim: a study without settings")
	case c.Runs < 1:
		return fmt.Errorf("sim: a study of %d runs: need at least 1", c.Runs)
	case c.InFlight < 1:
		return fmt.Errorf("sim: a study with %d pulls pending at once: need at least 1", c.InFlight)
	case c.Parallel < 1:
		return fmt.Errorf("sim: a study with %d runs at once: need at least 1", c.Parallel)
	}
	names := make(map[string]bool)
	for _, p := range c.Contenders {
		if names[p.Name] {
			return fmt.Errorf("sim: two policies named %q", p.Name)
		}
		names[p.Name] = true
		if p.Arms < 0 {
			return fmt.Errorf("sim: policy %q has %d arms: need 0 for all, or more", p.Name, p.Arms)
		}
	}
	for _, s := range c.Settings {
		if s.Arms < 1 || s.Rounds < 1 || s.N < 0 {
			return fmt.Errorf("sim: setting %v: need at least 1 arm, 1 child and 1 round", s)
		}
	}
	for _, m := range c.Multiples {
		if !(m > 0) {
			return fmt.Errorf("sim: multiple %v of the rounds: need more than 0", m)
		}
	}
	return nil
}

// Study plays every policy in every setting and returns a [Cell] for each setting, in order. The runs of a
// setting are paired: run i has the same arms for every policy, those of seed cfg.Seed + i. The same study
// gives the same cells, however many runs are played at once.
//
// If ctx ends, or a policy gives no distribution, it returns the cells that are complete, and an error.
func Study(ctx context.Context, cfg StudyConfig) ([]Cell, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	var cells []Cell
	for _, s := range cfg.Settings {
		runs, err := cfg.play(ctx, s)
		if err != nil {
			return cells, fmt.Errorf("sim: %v: %w", s, err)
		}
		cells = append(cells, newCell(cfg, s, runs))
	}
	return cells, nil
}

// run is one run of a setting: what every policy's best score was over the same arms.
type run struct {
	oracle Course
	robin  []float64 // of RoundRobin, after each multiple
	best   []Course  // by policy
	took   []float64 // by policy, in seconds; 0 if that is not told
}

// play plays the runs of a setting, several at once.
func (c StudyConfig) play(ctx context.Context, s Setting) ([]run, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	runs := make([]run, c.Runs) // each has its place, so it does not matter which ends first
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(c.Parallel, c.Runs) {
		wg.Go(func() {
			for i := range next {
				var err error
				if runs[i], err = c.run(s, c.Seed+uint64(i)); err != nil {
					cancel(err)
				}
				c.Progress()
			}
		})
	}
	for i := 0; i < c.Runs && ctx.Err() == nil; i++ {
		next <- i
	}
	close(next)
	wg.Wait()
	return runs, context.Cause(ctx)
}

// run plays every policy over the arms of one seed.
func (c StudyConfig) run(s Setting, seed uint64) (run, error) {
	arms := Arms(s.Family, seed, s.Arms, s.N, s.Rounds)
	r := run{oracle: newCourse(Oracle(arms, s.Rounds))}
	for _, m := range c.Multiples {
		t := c.after(m, s)
		r.robin = append(r.robin, RoundRobin(arms, t)[t])
	}
	for _, p := range c.Contenders {
		best, seconds, err := c.one(p, s, seed, arms)
		if err != nil {
			return r, fmt.Errorf("%s: %w", p.Name, err)
		}
		r.best = append(r.best, newCourse(best))
		r.took = append(r.took, seconds)
	}
	return r, nil
}

// one plays one policy, and returns the best score after 0, 1, ..., T pulls.
func (c StudyConfig) one(p Contender, s Setting, seed uint64, arms [][]float64) (
	best []float64, seconds float64, err error) {
	if p.Play == nil {
		k := cmp.Or(min(p.Arms, s.Arms), s.Arms)
		played, err := Play(p.New(s), arms[:k], PlayConfig{Rounds: s.Rounds, Seed: seed, N: max(s.N, 1),
			InFlight: c.InFlight, Delay: c.Delay})
		return played.Best, 0, err
	}
	best, seconds, err = p.Play(s, seed)
	if err == nil && (len(best) == 0 || len(best) > s.Rounds+1) {
		err = fmt.Errorf("sim: Contender.Play returns %d scores: need 1 to %d", len(best), s.Rounds+1)
	}
	return best, seconds, err
}

// after returns the number of pulls that a multiple stands for. It is no more than all that the arms have.
func (StudyConfig) after(multiple float64, s Setting) int {
	return int(max(1, min(multiple, float64(s.Arms))*float64(s.Rounds)))
}
