package cli

import (
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
)

// A Game holds the parameters of a policy's game.
type Game struct {
	T     int // rounds; 0 if unknown beforehand, as when the search decides their breadth
	Calls int // of all rounds
}

// Game returns the game of this run's policy.
func (o *Options) Game() Game {
	g := Game{Calls: o.T * o.N}
	if o.Children() == nil {
		g.T = o.T
	}
	return g
}

// policies are the values of --algo, in the order of the help.
var policies = []struct {
	key string
	new func(g Game) bandit.Policy
}{
	{"challenge", func(g Game) bandit.Policy { return &bandit.Challenge{T: g.Calls} }},
	{"ei", func(g Game) bandit.Policy { return &bandit.ExpectedImprovement{T: g.Calls} }},
	{"ucb", func(Game) bandit.Policy { return &bandit.UCB1{} }},
	{"exp3p", func(Game) bandit.Policy { return &bandit.PaperEXP3P{} }},
	{"thompson", func(Game) bandit.Policy { return &bandit.GaussianThompson{} }},
	{"random", func(Game) bandit.Policy { return bandit.Random{} }},
	{"exp3p-auer", func(g Game) bandit.Policy { return &bandit.EXP3P{T: g.T} }},
	{"ucb-tuned", func(Game) bandit.Policy { return &bandit.UCBTuned{} }},
	{"eps-greedy", func(Game) bandit.Policy { return &bandit.EpsilonGreedy{} }},
	{"softmax", func(Game) bandit.Policy { return &bandit.Softmax{} }},
	{"max-ucb", func(Game) bandit.Policy { return &bandit.MaxUCB{} }},
	{"rising-elimination", func(g Game) bandit.Policy { return &bandit.RisingElimination{T: g.T} }},
	{"halving", func(g Game) bandit.Policy { return &bandit.SuccessiveHalving{T: g.T} }},
}

// Policy returns a new policy for a value of --algo.
func Policy(key string, g Game) (bandit.Policy, error) {
	for _, p := range policies {
		if p.key == key {
			return p.new(g), nil
		}
	}
	return nil, CheckPolicy(key)
}

// CheckPolicy returns an error unless key is a value of --algo.
func CheckPolicy(key string) error {
	if slices.Contains(PolicyKeys(), key) {
		return nil
	}
	return Usagef("unknown algorithm %q: it is one of %s", key, strings.Join(PolicyKeys(), ", "))
}

// DefaultPolicy is the value of --algo if none is given.
const DefaultPolicy = "challenge"

// PolicyKeys returns the values of --algo.
func PolicyKeys() []string {
	var keys []string
	for p := range slices.Values(policies) {
		keys = append(keys, p.key)
	}
	return keys
}
