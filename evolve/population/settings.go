package population

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// Settings are the parameters that may change with each generation ([Config].Settings). Zero fields keep the values of
// [Config].
type Settings struct {
	// Name is the value of the children's label "settings", which ledgers show; "" means the result of String.
	Name string
	// Weights multiply the probabilities that Config.Policy gives the operators, in the order of Config.Operators. nil
	// means equal weights. They must be in [0, 1e6], and not all 0. If all operators that can make a child have weight 0,
	// the probabilities are unchanged.
	Weights []float64
	// Explore is the share of children, in [0, 1], whose parent is drawn uniformly and not by the selector.
	Explore float64
	// N is the number of children of the generation, at most evolve.MaxN; 0 means Config.N. It excludes a Breadth.
	N int
	// Select chooses the parents; nil means Config.Select.
	Select Selector
}

// String returns the differences from the Config.
func (s Settings) String() string {
	var list []string
	if s.Weights != nil {
		list = append(list, fmt.Sprintf("weights %v", s.Weights))
	}
	if s.Explore > 0 {
		list = append(list, fmt.Sprintf("explore %v", s.Explore))
	}
	if s.N > 0 {
		list = append(list, fmt.Sprintf("N %d", s.N))
	}
	if s.Select != nil {
		list = append(list, nameOf(s.Select))
	}
	if len(list) == 0 {
		return "as configured"
	}
	return strings.Join(list, ", ")
}

func (s Settings) validate(c Config) error {
	switch {
	case s.Weights != nil && (len(s.Weights) != len(c.Operators) || slices.Max(s.Weights) == 0 ||
		slices.ContainsFunc(s.Weights, func(w float64) bool { return !(w >= 0 && w <= 1e6) })):
		return fmt.Errorf("population: Settings.Weights are %v: need one for each of %d operators, in [0, 1e6] and not all 0",
			s.Weights, len(c.Operators))
	case !(s.Explore >= 0 && s.Explore <= 1):
		return fmt.Errorf("population: Settings.Explore is %v: need a share in [0, 1]", s.Explore)
	case s.N < 0 || s.N > evolve.MaxN || s.N > 0 && c.Breadth != nil:
		return fmt.Errorf("population: Settings.N is %d: need 0 for Config.N, or up to %d without a Breadth", s.N,
			evolve.MaxN)
	}
	return valid(s.Select)
}

// validateSettings checks the settings that a search may be given, before anything is paid for.
func (c Config) validateSettings() error {
	if len(c.Settings) == 0 && c.SettingsPolicy != nil {
		return errors.New("population: Config.SettingsPolicy is set, and there are no Settings for it to choose from")
	}
	for _, s := range c.Settings {
		if err := s.validate(c); err != nil {
			return err
		}
	}
	return nil
}

// selector returns the selector of parents under the settings.
func (s Settings) selector(configured Selector) Selector {
	if s.Select != nil {
		configured = s.Select
	}
	if s.Explore > 0 {
		return Choice(s.Explore, Uniform(), configured)
	}
	return configured
}

// tilted is a policy whose probabilities the weights of the current settings multiply.
type tilted struct {
	bandit.Policy
	now *Settings
}

// Probs fills p with w·q, normalized, where q are the policy's probabilities and w the weights.
func (t tilted) Probs(p []float64, r bandit.Round) {
	t.Policy.Probs(p, r)
	sum := 0.0
	each := len(p) / max(1, len(t.now.Weights)) // proposers of an operator
	for i, w := range t.now.Weights {
		sum += w * floats.Sum(p[i*each:(i+1)*each])
	}
	for i, w := range t.now.Weights {
		if sum > 0 {
			floats.Scale(w/sum, p[i*each:(i+1)*each])
		}
	}
}

// String returns the policy's name.
func (t tilted) String() string { return nameOf(t.Policy) }

// A reign is a bandit over the settings of a search, and what it chose for the current step.
type reign struct {
	*chooser
	pull  pull // not reported yet
	now   Settings
	steps int // made before the choice; -1 before the first
	err   error
}

// govern chooses the settings of the next step, once. They are in force from then on.
func (p *Population) govern() error {
	r := &p.reign
	if len(p.cfg.Settings) == 0 || r.err != nil || r.steps == p.Steps() {
		return r.err
	}
	r.steps = p.Steps()
	r.cancel(r.pull) // of a generation that was cut short, or of which no call was answered
	if r.pull, r.err = r.draw(allOf(r.arms), uint64(r.steps+1)); r.err == nil {
		r.now = p.cfg.Settings[r.pull.arm]
	}
	return r.err
}

// conclude tells the policy of settings the reward of a generation; see [Config].Settings. Where SD is 0 or the best was
// invalid, a child that is better counts 1. A child is held against the best and not against its parent, because
// settings choose the parents: those that choose bad ones would be rewarded for it.
func (p *Population) conclude(gen evolve.Generation) {
	calls, sum, sd := 0.0, 0.0, p.lifts.SD()
	for attempts := range gen.EachCall {
		if llm.ClassOf(attempts) == llm.Real {
			calls++
		}
	}
	if p.reign.err != nil || gen.Partial || calls == 0 {
		return
	}
	for _, c := range gen.Children {
		switch {
		case !c.Scored() || !c.Better(gen.Before):
		case !gen.Before.Result.Valid || sd == 0:
			sum++
		default:
			sum += min(1, (c.Result.Score-gen.Before.Result.Score)/sd)
		}
	}
	p.reign.err = p.reign.report(p.reign.pull, sum/calls)
	p.reign.pull = pull{}
}
