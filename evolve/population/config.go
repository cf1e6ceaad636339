package population

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// Config says what a [Population] works on, and of which parts it consists. What is left out is greedy search's: with
// a Task, an LLM, an N and a Seed alone the children are those of evolve.Greedy.
type Config struct {
	Task task.Task // what to improve; required
	// LLM proposes children; required, unless none asks it. A step asks for N at once: limit these with [llm.Limit].
	LLM llm.LLM
	// Proposers ask with each of the Operators; nil means LLM alone. The [evolve.Breeder] has each pair of an operator and a
	// proposer, under the names of both.
	Proposers []evolve.Proposer
	// N is how many children a step has, at most evolve.MaxN; 0 means evolve.DefaultN. With a Breadth it is the most
	// that one has, and 0 means that Breadth alone decides.
	N    int
	Seed uint32 // addresses all that is random, see [evolve.ChildSeed]; 0 is a seed like another
	// Breadth decides how many children each step has; nil means N. See [evolve.GreedyConfig].
	Breadth evolve.Breadth

	Archive Archive  // who stays; nil means Drift, and Top(Noise.Keep) with a Noise
	Select  Selector // who breeds; nil means Best
	// Operators are the ways to make a child, with different names; nil means a plain rewrite of the parent.
	Operators []Operator
	// Policy draws the pair of each child; nil means [bandit.BetaThompson]. It is not asked where there is one.
	Policy bandit.Policy
	// Credit says what a draw of Policy or of Islands was worth to it. It reports false if nothing can be learned. Rewards
	// are expected in [0, 1] unless the policy says otherwise, and have to be finite. nil means [evolve.Breeder]'s for
	// Policy, and [Improved] for Islands.
	Credit func(Birth) (reward float64, ok bool)
	// Islands chooses the part that breeds of an archive that has parts, such as [Islands]; nil means
	// [bandit.Random].
	Islands bandit.Policy
	// Settings are arms of a bandit that chooses the weights of operators, the selector and the like anew for each
	// generation, by what came of them; nil means that they stay as they are here. Begin the list with the zero value, so
	// that the search as it is configured is an arm too. What a bad arm costs is paid for, so keep the list short: with k
	// arms the first k generations at least are trials. An arm's reward is by how much a generation's valid children
	// raised the best that it began with, for each answered call, in standard deviations of score − parent's score of all
	// children so far:
	//
	//	(1/calls)·Σ min(1, max(0, score − best)/SD)
	Settings []Settings
	// SettingsPolicy draws them; nil means [bandit.GaussianThompson] with a sigma of 0.03 and a prior mean of 1, the most
	// that a reward is, worth a tenth of an outcome, so that each arm is tried; [bandit.Discounted] by 0.98, so that about
	// the last 50 generations count: rewards fall as a search gets on, and an arm that was left is tried again.
	SettingsPolicy bandit.Policy
	// Gates judge a program before its evaluation is paid for, in this order. The first that refuses it decides.
	Gates  []Gate
	Memory []Memory // what earlier attempts have shown; nil means nothing

	// MaxGenerations is when the search is done; 0 means never.
	MaxGenerations int
	// Start is the initial program with its score; nil means that the search evaluates it before its first step.
	Start *eval.Candidate
	// Window and Order are those of [evolve.Breeder]. A step of many children with a window is a steady-state search.
	Window int
	Order  evolve.Order
	// Noise says that the evaluator may score the same program differently, and what is done about it: Best is the best
	// member of now, by the mean of its samples. nil means that scores are exact.
	Noise *evolve.Noise
	// Temperatures are those of which one is drawn for each child that a model is asked for, all with the same chance, as
	// ShinkaEvolve does; nil means the model's own.
	Temperatures []float64
	// OnChild, if not nil, is called with each child as soon as it has ended, on the goroutine of its step.
	OnChild func(evolve.Child)

	plain bool // Operators was left out, so the default one is alone
}

// withDefaults fills in what is left out. A Noise has its defaults already.
func (c Config) withDefaults() Config {
	switch {
	case c.N == 0 && c.Breadth == nil:
		c.N = evolve.DefaultN
	case c.N == 0:
		c.N = evolve.MaxN
	}
	if c.Archive == nil {
		c.Archive = Drift()
		if c.rescores() {
			c.Archive = Top(c.Noise.Keep)
		}
	}
	if c.Select == nil {
		c.Select = Best()
	}
	if c.plain = len(c.Operators) == 0; c.plain {
		c.Operators = []Operator{Rewrite{}}
	}
	if c.Policy == nil {
		c.Policy = &bandit.BetaThompson{}
	}
	if c.Credit == nil {
		c.Credit = Improved
	}
	if _, ok := c.Archive.(*Islands); ok && c.Islands == nil {
		c.Islands = bandit.Random{}
	}
	if len(c.Settings) > 0 && c.SettingsPolicy == nil {
		c.SettingsPolicy = bandit.Discounted(&bandit.GaussianThompson{Sigma: 0.03, PriorMean: 1, PriorStrength: 0.1}, 0.98)
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Task == nil:
		return errors.New("population: Config.Task is nil")
	case c.LLM == nil && c.plain && len(c.Proposers) == 0:
		return errors.New("population: Config.LLM is nil")
	case c.N < 1 || c.N > evolve.MaxN:
		return fmt.Errorf("population: Config.N is %d: a step needs at least 1 child, and at most %d", c.N, evolve.MaxN)
	case c.MaxGenerations < 0:
		return fmt.Errorf("population: Config.MaxGenerations is %d: need 0 for no limit, or more", c.MaxGenerations)
	case c.Window < 0:
		return fmt.Errorf("population: Config.Window is %d: need 0 for all children of a step, or more", c.Window)
	case slices.ContainsFunc(c.Temperatures, func(t float64) bool { return !(t >= 0) || math.IsInf(t, 1) }):
		return fmt.Errorf("population: Config.Temperatures is %v: need finite numbers, at least 0", c.Temperatures)
	case c.Order != evolve.ByIndex && c.Order != evolve.AsTheyEnd:
		return fmt.Errorf("population: Config.Order is %d: need ByIndex or AsTheyEnd", c.Order)
	}
	if err := c.validateIslands(); err != nil {
		return err
	}
	if err := c.validateParts(); err != nil {
		return err
	}
	return c.validateSettings()
}

func (c Config) validateIslands() error {
	if _, ok := c.Archive.(*Islands); !ok && c.Islands != nil {
		return fmt.Errorf("population: Config.Islands is set, and the archive %s has no parts: need *Islands",
			nameOf(c.Archive))
	}
	return nil
}

// validateParts asks the parts of this package whether their fields are right, and looks for parts that are nil.
func (c Config) validateParts() error {
	parts := []any{c.Archive, c.Select}
	names := map[string]bool{}
	for i, o := range c.Operators {
		if o == nil {
			return fmt.Errorf("population: Config.Operators[%d] is nil", i)
		}
		if names[o.Name()] { // results could not tell them apart
			return fmt.Errorf("population: two of Config.Operators are named %q: give each a name of its own", o.Name())
		}
		names[o.Name()] = true
		parts = append(parts, o)
	}
	for i, g := range c.Gates {
		if g == nil {
			return fmt.Errorf("population: Config.Gates[%d] is nil", i)
		}
		parts = append(parts, g)
	}
	for i, m := range c.Memory {
		if m == nil {
			return fmt.Errorf("population: Config.Memory[%d] is nil", i)
		}
		parts = append(parts, m)
	}
	for _, p := range parts {
		if err := valid(p); err != nil {
			return err
		}
	}
	return nil
}

// valid returns what is wrong with the fields of a part of this package. What is wrong with another shows when it is
// used.
func valid(part any) error {
	if v, ok := part.(interface{ validate() error }); ok {
		return v.validate()
	}
	return nil
}

// proposers returns the pairs of an operator and a proposer, by operator.
func (c Config) proposers() (pairs []evolve.Proposer) {
	for _, o := range c.Operators {
		for _, p := range c.Proposers {
			if len(c.Operators) > 1 {
				p.Name = o.Name() + "/" + p.Name
			}
			pairs = append(pairs, p)
		}
		if len(c.Proposers) == 0 {
			pairs = append(pairs, evolve.Proposer{Name: o.Name()})
		}
	}
	return pairs
}

// rescores reports whether members are scored again.
func (c Config) rescores() bool { return c.Noise != nil && c.Noise.Rescore > 0 }

// parts names what the search consists of.
func (c Config) parts() string {
	list := []string{nameOf(c.Archive), nameOf(c.Select)}
	for _, o := range c.Operators {
		list = append(list, nameOf(o))
	}
	for _, p := range c.Proposers {
		list = append(list, "proposer "+p.Name)
	}
	if len(c.proposers()) > 1 {
		list = append(list, nameOf(c.Policy))
	}
	if c.Islands != nil {
		list = append(list, "islands by "+nameOf(c.Islands))
	}
	if len(c.Settings) > 0 {
		list = append(list, fmt.Sprintf("settings by %s over %q", nameOf(c.SettingsPolicy), c.Settings))
	}
	for _, g := range c.Gates {
		list = append(list, nameOf(g))
	}
	for _, m := range c.Memory {
		list = append(list, nameOf(m))
	}
	if c.rescores() {
		list = append(list, fmt.Sprintf("keep %d, rescore %v", c.Noise.Keep, c.Noise.Rescore))
	}
	if len(c.Temperatures) > 0 {
		list = append(list, fmt.Sprintf("at temperatures %v", c.Temperatures))
	}
	if c.Window > 0 {
		list = append(list, fmt.Sprintf("window %d, %v", c.Window, c.Order))
	}
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), ", ")
}
