package cli

import (
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
)

// policies are the values of --algo, in the order of the help. Each is made for T rounds over K arms.
var policies = []struct {
	key string
	new func(T, K int) bandit.Policy
}{
	{"ucb", func(_, _ int) bandit.Policy { return &bandit.UCB1{} }},
	{"exp3p", func(_, _ int) bandit.Policy { return &bandit.PaperEXP3P{} }},
	{"thompson", func(_, _ int) bandit.Policy { return &bandit.GaussianThompson{} }},
	{"random", func(_, _ int) bandit.Policy { return bandit.Random{} }},
	{"ei", func(T, _ int) bandit.Policy { return &bandit.ExpectedImprovement{T: T, Ceiling: 1} }},
	{"exp3p-auer", func(T, _ int) bandit.Policy { return &bandit.EXP3P{T: T} }},
	{"exp3ix", func(T, _ int) bandit.Policy { return &bandit.EXP3IX{T: T} }},
	{"ucb-tuned", func(_, _ int) bandit.Policy { return &bandit.UCBTuned{} }},
	{"eps-greedy", func(_, _ int) bandit.Policy { return &bandit.EpsilonGreedy{} }},
	{"softmax", func(_, _ int) bandit.Policy { return &bandit.Softmax{} }},
	{"sw-ucb", func(T, _ int) bandit.Policy { return &bandit.SlidingWindow{T: T} }},
	// With the constants of D-UCB's source, for one change of the rewards in T rounds.
	{"d-ucb", func(T, _ int) bandit.Policy {
		return bandit.Discounted(&bandit.UCB1{C: 2 * math.Sqrt(0.6)}, 1-1/(4*math.Sqrt(float64(T))))
	}},
	{"max-ucb", func(_, _ int) bandit.Policy { return &bandit.MaxUCB{} }},
	{"threshold-ascent", func(T, _ int) bandit.Policy { return &bandit.ThresholdAscent{T: T} }},
	{"rising-ucb", func(_, _ int) bandit.Policy { return &bandit.RisingUCB{} }},
	{"rising-elimination", func(T, _ int) bandit.Policy { return &bandit.RisingElimination{T: T} }},
	{"halving", func(T, _ int) bandit.Policy { return &bandit.SuccessiveHalving{T: T} }},
	{"asha", func(T, _ int) bandit.Policy { return &bandit.ASHA{T: T} }},
	{"normal-gamma", func(_, _ int) bandit.Policy { return &bandit.NormalGamma{} }},
}

// Policy returns a new policy for a value of --algo, for T rounds over K arms.
func Policy(key string, T, K int) (bandit.Policy, error) {
	for _, p := range policies {
		if p.key == key {
			return p.new(T, K), nil
		}
	}
	return nil, Usagef("unknown algorithm %q: it is one of %s", key, strings.Join(PolicyKeys(), ", "))
}

// PolicyKeys returns the values of --algo.
func PolicyKeys() []string {
	var keys []string
	for p := range slices.Values(policies) {
		keys = append(keys, p.key)
	}
	return keys
}
