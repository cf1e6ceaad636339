package searches

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// KeysHelp says how a configuration is written.
const KeysHelp = `a configuration is a list of key=value, each with what it is when left out:
operators=rewrite+explore (of rewrite, explore, cross, self-cross, merge),
weights= (of the operators: fixed shares in place of the policy, such as 6:1:3),
policy=softmax (or ucb1, random, thompson),
credit=improved (or rank, lift:SCALE),
archive=top:1 (or top:N, all:N, drift, fronts),
select=best (or uniform, power-law:A, epsilon:E, weighted:L, tournament:K),
n=1 (children of a step),
meta=none (or bandit, and with nothing learned bandit-still)`

// A setting changes the configuration as the value of its key says.
type setting func(c *population.Config, value string) error

// settings returns what each key does.
func settings() map[string]setting {
	return map[string]setting{
		"operators": setOperators, "weights": setWeights, "policy": setPolicy, "credit": setCredit,
		"archive": setArchive, "select": setSelect, "n": setN, "meta": setMeta,
	}
}

// inOrder are the keys in the order in which they are applied: weights and meta need the operators.
var inOrder = []string{"operators", "weights", "policy", "credit", "archive", "select", "n", "meta"}

// Configured returns the search of a list of key=value. Its name is the list.
func Configured(list string) (compare.Search, error) {
	values := map[string]string{}
	for field := range strings.SplitSeq(list, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(field), "=")
		_, twice := values[key]
		switch {
		case !found || !slices.Contains(inOrder, key):
			return compare.Search{}, fmt.Errorf("%q is neither a search nor key=value with one of the keys %s",
				field, strings.Join(inOrder, ", "))
		case twice:
			return compare.Search{}, fmt.Errorf("%s is there twice", key)
		}
		values[key] = value
	}
	if values["weights"] != "" && values["policy"] != "" {
		return compare.Search{}, fmt.Errorf("weights=%s takes the place of policy=%s: leave one out",
			values["weights"], values["policy"])
	}
	if _, err := build(values); err != nil {
		return compare.Search{}, err
	}
	s := compare.Population(list, func(compare.Setting) population.Config {
		c, _ := build(values) // as above
		return c
	})
	p, err := compare.Families()[0].Make(0) // parts say what is wrong with their numbers when a search is made
	if err == nil {
		_, err = s.Make(compare.Setting{Task: p.Task, LLM: p.LLM})
	}
	return s, err
}

// build returns the configuration of the values, with parts of its own.
func build(values map[string]string) (population.Config, error) {
	c := population.Config{Archive: population.Top(1),
		Operators: []population.Operator{population.Rewrite{}, population.Explore{}}}
	for _, key := range inOrder {
		value, given := values[key]
		if !given {
			continue
		}
		if err := settings()[key](&c, value); err != nil {
			return c, fmt.Errorf("%s=%s: %w", key, value, err)
		}
	}
	return c, nil
}

func setOperators(c *population.Config, value string) error {
	of := map[string]population.Operator{
		"rewrite": population.Rewrite{}, "explore": population.Explore{}, "cross": population.Cross{},
		"self-cross": population.Cross{Label: "self-cross", Self: true}, "merge": &population.Merge{},
	}
	c.Operators = nil
	for name := range strings.SplitSeq(value, "+") {
		o := of[name]
		if o == nil {
			return fmt.Errorf("unknown operator %q", name)
		}
		c.Operators = append(c.Operators, o)
	}
	return nil
}

func setWeights(c *population.Config, value string) error {
	var shares bandit.Shares
	for text := range strings.SplitSeq(value, ":") {
		w, err := strconv.ParseFloat(text, 64)
		if err != nil || !(w >= 0 && w <= 1e9) {
			return fmt.Errorf("%q is no weight: need a number from 0 to 1e9", text)
		}
		shares = append(shares, w)
	}
	if len(shares) != len(c.Operators) || slices.Max(shares) == 0 {
		return fmt.Errorf("need one for each of %d operators, not all 0", len(c.Operators))
	}
	c.Policy = shares
	return nil
}

func setPolicy(c *population.Config, value string) error {
	switch value {
	case "softmax":
		c.Policy = nil // the default
	case "ucb1":
		c.Policy = &bandit.UCB1{}
	case "random":
		c.Policy = bandit.Random{}
	case "thompson":
		c.Policy = &bandit.GaussianThompson{Sigma: 0.4} // for credit of 0 and 1
	default:
		return fmt.Errorf("unknown policy")
	}
	return nil
}

func setCredit(c *population.Config, value string) error {
	name, number, err := split(value, "lift")
	switch {
	case err != nil:
		return fmt.Errorf("%w: need improved, rank, or lift:SCALE with a scale above 0", err)
	case name == "improved":
		c.Credit = population.Improved
	case name == "rank":
		c.Credit = population.Rank
	case name == "lift" && number > 0:
		c.Credit = population.Lift(number)
	default:
		return fmt.Errorf("need improved, rank, or lift:SCALE with a scale above 0")
	}
	return nil
}

func setArchive(c *population.Config, value string) error {
	name, number, err := split(value, "top", "all")
	switch {
	case err != nil:
		return err
	case name == "top" && whole(number, 1e6):
		c.Archive = population.Top(int(number))
	case name == "all" && whole(number, 1e6):
		c.Archive = population.All(int(number))
	case name == "drift":
		c.Archive = population.Drift()
	case name == "fronts":
		c.Archive = population.Fronts()
	default:
		return fmt.Errorf("need top:N, all:N, drift or fronts")
	}
	return nil
}

func setSelect(c *population.Config, value string) error {
	name, number, err := split(value, "power-law", "epsilon", "weighted", "tournament")
	if err != nil {
		return err
	}
	switch name {
	case "best":
		c.Select = population.Best()
	case "uniform":
		c.Select = population.Uniform()
	case "power-law":
		c.Select = population.PowerLaw(number)
	case "epsilon":
		c.Select = population.Choice(number, population.Uniform(), population.Best())
	case "weighted":
		c.Select = population.Weighted(number)
	case "tournament":
		if !whole(number, 1e6) {
			return fmt.Errorf("need a whole number, at least 1")
		}
		c.Select = population.Tournament(int(number))
	default:
		return fmt.Errorf("unknown selector")
	}
	return nil
}

func setN(c *population.Config, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return fmt.Errorf("need a whole number, at least 1")
	}
	c.N = n
	return nil
}

// setMeta has a bandit choose settings that every family may gain from: the share of each operator, and of parents
// drawn uniformly.
func setMeta(c *population.Config, value string) error {
	arms := []population.Settings{{}, {Explore: 0.3}}
	for i := range c.Operators {
		w := slices.Repeat([]float64{1}, len(c.Operators))
		w[i] = 5
		arms = append(arms, population.Settings{Weights: w})
	}
	switch value {
	case "none":
	case "bandit":
		c.Settings = arms
	case "bandit-still":
		c.Settings, c.SettingsPolicy = arms,
			still{bandit.Discounted(&bandit.GaussianThompson{Sigma: 0.03, PriorMean: 1, PriorStrength: 0.1}, 0.98)}
	default:
		return fmt.Errorf("need none, bandit or bandit-still")
	}
	return nil
}

// A still policy is told that every pull was worth nothing: the placebo of a bandit over settings.
type still struct{ bandit.Policy }

func (s still) Update(pull bandit.Pull, _ float64) { s.Policy.Update(pull, 0) }

// String names the policy as if it learned, which changes nothing that it draws.
func (s still) String() string { return fmt.Sprint(s.Policy) }

// split takes NAME or NAME:NUMBER apart. Those that are numbered have a number, and the others have none.
func split(value string, numbered ...string) (name string, number float64, err error) {
	name, text, found := strings.Cut(value, ":")
	switch want := slices.Contains(numbered, name); {
	case found && !want:
		return "", 0, fmt.Errorf("%s takes no number", name)
	case want && !found:
		return "", 0, fmt.Errorf("%s takes a number, as in %s:2", name, name)
	case found:
		if number, err = strconv.ParseFloat(text, 64); err != nil || !(number >= 0 && number <= 1e9) {
			return "", 0, fmt.Errorf("%q is no number from 0 to 1e9", text)
		}
	}
	return name, number, nil
}

func whole(v, most float64) bool { return v >= 1 && v <= most && v == float64(int(v)) }
