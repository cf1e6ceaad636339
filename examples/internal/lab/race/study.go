package race

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
)

// A Contender is a policy to compare with others, over searches whose steps are as wide as it says.
type Contender struct {
	sim.Contender // whose Play is not set
	// Breadth decides how many children a pull makes, until T·N are made; nil means N. The family has to be a
	// [Stepper].
	Breadth evolve.Breadth
	// Breadths gives the policy one search for each of them, whatever the setting's number of arms, for a policy that
	// is to find the breadth itself. nil means that all arms have Breadth. The family has to be a [Stepper].
	Breadths []evolve.Breadth
	// Window is as in Config; 0 means that all children of a pull are under way at once. With more the family has
	// to be a [Stepper].
	Window int
	// Neutral lets a child that is as good as its parent replace it, in families that can ([Drifter]). In others it
	// changes nothing.
	Neutral bool
}

// A StudyConfig says what to compare.
type StudyConfig struct {
	sim.StudyConfig             // whose Contenders are those that follow
	Contenders      []Contender // at least one; names differ
	// Slots and Latency are as in Config. If either is set, every policy is raced, and [sim.Entry].Seconds tells how
	// long runs took. All families have to be Steppers then, and Delay does not apply.
	Slots   int
	Latency func(r *rand.Rand) float64
}

func (c StudyConfig) validate() error {
	if c.Slots < 0 {
		return fmt.Errorf("race: a study with %d slots: need 0 for no limit, or more", c.Slots)
	}
	for _, p := range c.Contenders {
		if p.Window < 0 {
			return fmt.Errorf("race: policy %q has a window of %d children: need 0 for all of a pull, or more", p.Name, p.Window)
		}
		for _, s := range c.Settings {
			if _, ok := s.Family.(Stepper); !ok && c.raced(p) {
				return fmt.Errorf("race: %q cannot be raced over %v: its searches are recorded, with as many children to a step "+
					"as they had", p.Name, s.Family)
			}
		}
	}
	return nil
}

// raced reports whether a policy is played with searches that are stepped.
func (c StudyConfig) raced(p Contender) bool {
	return p.Breadth != nil || p.Breadths != nil || p.Window > 0 || c.Slots > 0 || c.Latency != nil
}

// Study is [sim.Study] of contenders that are raced, or whose searches drift, where they ask for it.
func Study(ctx context.Context, cfg StudyConfig) ([]sim.Cell, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := cfg.StudyConfig
	s.Contenders = nil
	for _, p := range cfg.Contenders {
		switch {
		case cfg.raced(p):
			p.Play = func(s sim.Setting, seed uint64) ([]float64, float64, error) { return cfg.race(p, s, seed) }
		case p.Neutral:
			p.Play = func(s sim.Setting, seed uint64) ([]float64, float64, error) { return cfg.drift(p, s, seed) }
		}
		s.Contenders = append(s.Contenders, p.Contender)
	}
	return sim.Study(ctx, s)
}

// family returns what makes a contender's searches: the setting's family, drifting if it can and the contender is
// neutral.
func (p Contender) family(s sim.Setting) sim.Family {
	if d, ok := s.Family.(Drifter); ok && p.Neutral {
		return d.Drifting()
	}
	return s.Family
}

// arms returns how many of the setting's arms a contender has.
func (p Contender) arms(s sim.Setting) int { return cmp.Or(min(p.Arms, s.Arms), s.Arms) }

// drift plays a run over the arms of searches that drift.
func (c StudyConfig) drift(p Contender, s sim.Setting, seed uint64) (best []float64, seconds float64, err error) {
	arms := sim.Arms(p.family(s), seed, p.arms(s), s.N, s.Rounds)
	played, err := sim.Play(p.New(s), arms,
		sim.PlayConfig{Rounds: s.Rounds, Seed: seed, N: max(s.N, 1), InFlight: c.InFlight, Delay: c.Delay})
	return played.Best, 0, err
}

// race plays a run over searches that are stepped. It returns the best score by N calls.
func (c StudyConfig) race(p Contender, s sim.Setting, seed uint64) (best []float64, seconds float64, err error) {
	k, n := p.arms(s), max(s.N, 1)
	if p.Breadths != nil {
		k = len(p.Breadths)
	}
	searches := make([]Search, k)
	for i := range searches {
		searches[i] = p.family(s).(Stepper).Search(sim.Address{Seed: seed, Index: i})
	}
	of := p.Breadth
	if of == nil {
		of = breadth.Fixed(n)
	}
	r, err := Run(p.New(s), searches, Config{Calls: s.Calls(), Seed: seed, Breadth: of, Breadths: p.Breadths,
		InFlight: c.InFlight, Slots: c.Slots, Window: p.Window, Latency: c.Latency})
	if err != nil {
		return nil, 0, err
	}
	for t := range s.Rounds + 1 {
		best = append(best, r.Best[t*n])
	}
	return best, r.Seconds, nil
}
