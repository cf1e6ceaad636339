package population

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
)

// Settings are the parameters that may change with each generation ([Config].Settings). Zero fields keep the values of
// [Config].
type Settings struct {
	// Name is the value of the children's label "settings", which ledgers show; "" means the result of String.
	Name string
	// Weights multiply the probabilities that Config.Policy gives the operators, in the order of Config.Operators: under
	// equal probabilities they are the shares. nil means equal weights. They must be finite, at least 0, and not all 0. If
	// all operators that can make a child have weight 0, the probabilities are unchanged.
	Weights []float64
	// Explore is the share of children, in [0, 1], whose parent is drawn uniformly and not by the selector.
	Explore float64
	// Temperature is τ in the operators' probabilities p^(1/τ), normalized: below 1 they are sharper, above 1 flatter.
	// Under [bandit.Softmax] it multiplies Tau. 0 means 1.
	Temperature float64
	// N is the number of children of the generation, at most evolve.MaxN; 0 means Config.N. It excludes a Breadth.
	N int
	// Select chooses the parents; nil means Config.Select.
	Select Selector
}

// String returns the differences from the Config.
func (s Settings) String() string {
	var list []string
	add := func(set bool, format string, values ...any) {
		if set {
			list = append(list, fmt.Sprintf(format, values...))
		}
	}
	weights := make([]string, len(s.Weights))
	for i, w := range s.Weights {
		weights[i] = fmt.Sprintf("%.3g", w)
	}
	add(s.Weights != nil, "weights %s", strings.Join(weights, ":"))
	add(s.Explore != 0, "explore %.3g", s.Explore)
	add(s.Temperature != 0, "temperature %.3g", s.Temperature)
	add(s.N != 0, "N %d", s.N)
	if s.Select != nil {
		list = append(list, nameOf(s.Select))
	}
	if len(list) == 0 {
		return "as configured"
	}
	return strings.Join(list, ", ")
}

// label returns the settings' name for people.
func (s Settings) label() string {
	if s.Name != "" {
		return s.Name
	}
	return s.String()
}

// print returns the settings with all of their digits, by which a journal identifies a run.
func (s Settings) print() string {
	return fmt.Sprintf("{%q: %s; %v %v %v}", s.Name, s, s.Weights, s.Explore, s.Temperature)
}

// check returns an error if the settings do not suit a search.
func (s Settings) check(c Config) error {
	switch {
	case s.Weights != nil && len(s.Weights) != len(c.Operators):
		return fmt.Errorf("population: Settings.Weights are %v: need one for each of %d operators", s.Weights,
			len(c.Operators))
	case !(s.Explore >= 0 && s.Explore <= 1):
		return fmt.Errorf("population: Settings.Explore is %v: need a share in [0, 1]", s.Explore)
	case !(s.Temperature >= 0) || math.IsInf(s.Temperature, 1):
		return fmt.Errorf("population: Settings.Temperature is %v: need 0 for 1, or a finite number above", s.Temperature)
	case s.N < 0 || s.N > evolve.MaxN:
		return fmt.Errorf("population: Settings.N is %d: need 0 for Config.N, or up to %d", s.N, evolve.MaxN)
	case s.N > 0 && c.Breadth != nil:
		return fmt.Errorf("population: Settings.N is %d, and Config.Breadth decides how many children a step has: leave "+
			"one out", s.N)
	}
	for i, w := range s.Weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("population: Settings.Weights[%d] is %v: need a finite number, at least 0", i, w)
		}
	}
	if s.Weights != nil && slices.Max(s.Weights) == 0 {
		return fmt.Errorf("population: Settings.Weights are %v: at least one must be above 0", s.Weights)
	}
	return valid(s.Select)
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

// tilted is a policy whose probabilities the current settings change. Update sees the pull's actual propensity.
type tilted struct {
	of  bandit.Policy
	now *Settings
}

var _ bandit.Policy = tilted{}

// Probs fills p with w·q^(1/τ), normalized over the open arms, where q are the policy's probabilities, w the weights
// and τ the temperature.
func (t tilted) Probs(p []float64, r bandit.Round) {
	t.of.Probs(p, r)
	weights, power := t.now.Weights, 1.0
	if t.now.Temperature > 0 {
		power = 1 / t.now.Temperature
	}
	if weights == nil && power == 1 {
		return
	}
	weight := func(arm int) float64 {
		if weights == nil {
			return 1
		}
		return weights[arm]
	}
	most := 0.0 // among the arms with a weight, so that not all powers are 0
	for arm := range p {
		if weight(arm) > 0 {
			most = max(most, p[arm])
		}
	}
	if !(most > 0) {
		return
	}
	heaviest, sum := 1.0, 0.0 // weights are scaled, since the sum of two may be infinite
	if weights != nil {
		heaviest = slices.Max(weights)
	}
	tilt := func(arm int) float64 {
		if weight(arm) == 0 { // q^(1/τ) may be infinite
			return 0
		}
		return weight(arm) / heaviest * math.Pow(p[arm]/most, power)
	}
	for arm := range p {
		sum += tilt(arm)
	}
	if !(sum > 0) { // all weights are too small beside that of a closed arm
		return
	}
	for arm := range p {
		p[arm] = tilt(arm) / sum
	}
}

// Update updates the policy.
func (t tilted) Update(pull bandit.Pull, reward float64) { t.of.Update(pull, reward) }

// String returns the policy's name.
func (t tilted) String() string { return nameOf(t.of) }
