package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/task"
)

// A Game holds the parameters of a policy's game.
type Game struct {
	T     int // rounds; 0 if unknown beforehand, as when the search decides their breadth
	Calls int // of all rounds
	// Cautious says that challenge has the constants of runs that were begun before it had others.
	Cautious bool
}

// Game returns the game of this run's policy.
func (o *Options) Game() Game {
	g := Game{Calls: o.T * o.N, Cautious: o.cautious}
	if o.Children() == nil {
		g.T = o.T
	}
	return g
}

// KeepHorizon is [Options.Game] of a run whose result goes to path, below --output: a run that goes on with more calls
// keeps the policy that it began with, also if that goes by their number.
func (o *Options) KeepHorizon(path string, t task.Task, decides journal.Fingerprint) Game {
	of := *o
	if began, err := strconv.Atoi(o.begunWith(path, t, decides)["T"]); err == nil && began < o.T {
		of.T = began
	}
	return of.Game()
}

// begunWith returns the fingerprint of the journal with which a run goes on whose result goes to path, below --output,
// nil for one that begins.
func (o *Options) begunWith(path string, t task.Task, decides journal.Fingerprint) journal.Fingerprint {
	if !o.Resume {
		return nil
	}
	name := o.journalAt(path)
	if !exists(name) {
		name = o.shorter(name, o.fingerprint(t, decides))
	}
	run, _ := journal.Inspect(name) // what is wrong with the file, Open says
	return run.Fingerprint
}

// ArmSeeds names in a fingerprint how the searches of a bandit have their seeds.
const ArmSeeds = "arm seeds"

// KeepArms reports whether a bandit's searches have seeds that follow each other and its policy has raw scores: those of
// strict runs, and of a resumed run whose journal was begun so, which all once were.
func (o *Options) KeepArms(path string, t task.Task, decides journal.Fingerprint) bool {
	begun := o.begunWith(path, t, decides)
	return o.Strict || begun != nil && begun[ArmSeeds] == ""
}

// policies are the values of --algo, in the order of the help.
var policies = []struct {
	key string
	new func(g Game) bandit.Policy
}{
	{"challenge", func(g Game) bandit.Policy { return &bandit.Challenge{T: g.Calls, Cautious: g.Cautious} }},
	{"ei", func(g Game) bandit.Policy { return &bandit.ExpectedImprovement{T: g.Calls} }},
	{"ucb", func(Game) bandit.Policy { return &bandit.UCB1{} }},
	{"exp3p", func(Game) bandit.Policy { return &bandit.PaperEXP3P{} }},
	{"thompson", func(Game) bandit.Policy { return &bandit.GaussianThompson{} }},
	{"random", func(Game) bandit.Policy { return bandit.Random{} }},
	{"exp3p-auer", func(g Game) bandit.Policy { return &bandit.EXP3P{T: g.T} }},
	{"ucb-tuned", func(Game) bandit.Policy { return &bandit.UCBTuned{} }},
	{"softmax", func(Game) bandit.Policy { return &bandit.Softmax{} }},
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
