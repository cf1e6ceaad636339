package population

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
)

// Settings are what may be chosen anew for each generation ([Config].Settings). What is left out stays as [Config] has
// it, so the zero value changes nothing.
type Settings struct {
	// Name stands in the children's label "settings", and so in ledgers; "" means what String prints.
	Name string
	// Weights multiply the chances that Config.Policy gives the operators, one each, in the order of Config.Operators:
	// with equal chances they are the shares. nil means that all are equal. They have to be finite, at least 0, and
	// not all 0. If the operators that can make a child all have weight 0, the chances stay as they are.
	Weights []float64
	// Explore is the share of children whose parent is drawn uniformly, and not by the selector: in [0, 1].
	Explore float64
	// Temperature τ makes the chances of operators p^(1/τ), normalized: below 1 they are sharper, above 1 flatter. With
	// [bandit.Softmax] that multiplies its Tau. 0 means 1.
	Temperature float64
	// N is how many children the generation has, at most evolve.MaxN; 0 means Config.N. It does not go with a Breadth.
	N int
	// Select chooses the parents; nil means Config.Select.
	Select Selector
}

// String prints what differs from the Config.
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

// label names the settings for people.
func (s Settings) label() string {
	if s.Name != "" {
		return s.Name
	}
	return s.String()
}

// print names the settings with all of their digits, for a journal to recognize a run by.
func (s Settings) print() string {
	return fmt.Sprintf("{%q: %s; %v %v %v}", s.Name, s, s.Weights, s.Explore, s.Temperature)
}

// check returns what is wrong with the settings for a search.
func (s Settings) check(c Config) error {
	switch {
	case s.Weights != nil && len(s.Weights) != len(c.Operators):
		return fmt.Errorf("population: Settings.Weights are %v: need one for each of %d operators", s.Weights, len(c.Operators))
	case !(s.Explore >= 0 && s.Explore <= 1):
		return fmt.Errorf("population: Settings.Explore is %v: need a share in [0, 1]", s.Explore)
	case !(s.Temperature >= 0) || math.IsInf(s.Temperature, 1):
		return fmt.Errorf("population: Settings.Temperature is %v: need 0 for 1, or a finite number above", s.Temperature)
	case s.N < 0 || s.N > evolve.MaxN:
		return fmt.Errorf("population: Settings.N is %d: need 0 for Config.N, or up to %d", s.N, evolve.MaxN)
	case s.N > 0 && c.Breadth != nil:
		return fmt.Errorf("population: Settings.N is %d, and Config.Breadth decides how many children a step has: leave one out", s.N)
	}
	for i, w := range s.Weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("population: Settings.Weights[%d] is %v: need a finite number, at least 0", i, w)
		}
	}
	if s.Weights != nil && slices.Max(s.Weights) == 0 {
		return fmt.Errorf("population: Settings.Weights are %v: at least one has to be above 0", s.Weights)
	}
	return valid(s.Select)
}

// selector returns what chooses the parents under the settings.
func (s Settings) selector(configured Selector) Selector {
	if s.Select != nil {
		configured = s.Select
	}
	if s.Explore > 0 {
		return Choice(s.Explore, Uniform(), configured)
	}
	return configured
}

// tilted is a policy whose chances the settings in force change. What it learns of a pull has the propensity that the
// pull had.
type tilted struct {
	of  bandit.Policy
	now *Settings
}

var _ bandit.Policy = tilted{}

// Probs fills p with w·q^(1/τ), normalized over the open arms, with q the chances of the policy, w the weights and τ the
// temperature.
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
	most := 0.0 // among those that have a weight, so that no power of all of them is 0
	for arm := range p {
		if weight(arm) > 0 {
			most = max(most, p[arm])
		}
	}
	if !(most > 0) {
		return
	}
	heaviest, sum := 1.0, 0.0 // weights are scaled, as the sum of two of them may be infinite
	if weights != nil {
		heaviest = slices.Max(weights)
	}
	tilt := func(arm int) float64 {
		if weight(arm) == 0 { // its power may be infinite
			return 0
		}
		return weight(arm) / heaviest * math.Pow(p[arm]/most, power)
	}
	for arm := range p {
		sum += tilt(arm)
	}
	if !(sum > 0) { // a weight that is too small beside one of an arm that is closed
		return
	}
	for arm := range p {
		p[arm] = tilt(arm) / sum
	}
}

// Update tells the policy.
func (t tilted) Update(pull bandit.Pull, reward float64) { t.of.Update(pull, reward) }

// String names the policy.
func (t tilted) String() string { return nameOf(t.of) }
