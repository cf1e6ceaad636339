package policies

import (
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/race"
)

// own are policies to compare besides those of the library. A policy of yours joins by one line here:
//
//	contender("mine", func(s sim.Setting) bandit.Policy { return &mine{Rounds: s.Rounds, Arms: s.Arms} }),
//
// The func is called for each run, from several goroutines at once.
var own = []race.Contender{}

// contender returns what plays the policies that fresh makes, over searches that take ties as evolve.Greedy does.
func contender(name string, fresh func(sim.Setting) bandit.Policy) race.Contender {
	return race.Contender{Contender: sim.Contender{Name: name, New: fresh}, Neutral: true}
}

// contenders returns all policies that can be compared: those that the other examples take as --algo, in
// that order, the baselines and own ones.
func (o *options) contenders() []race.Contender {
	var all []race.Contender
	for _, key := range cli.PolicyKeys() {
		all = append(all, contender(key, policyOf(key, func(s sim.Setting) int { return s.Rounds })))
	}
	return slices.Concat(all, searches(), own)
}

// policyOf returns what makes the policy of a key. rounds returns how many rounds a setting has, 0 if that is not
// known.
func policyOf(key string, rounds func(sim.Setting) int) func(sim.Setting) bandit.Policy {
	return func(s sim.Setting) bandit.Policy {
		p, err := cli.Policy(key, cli.Game{T: rounds(s), Calls: s.Calls()})
		if err != nil {
			panic(err) // the key is one of cli's own
		}
		return p
	}
}

// chosen returns the contenders named in a flag's list, in its order; "all" is every one there is.
func (o *options) chosen(flag, list string) ([]race.Contender, error) {
	all := o.contenders()
	if list == "all" {
		return all, nil
	}
	var some []race.Contender
	for _, name := range split(list) {
		c, err := widened(all, name)
		if err != nil {
			return nil, cli.Usagef("--%s: %w", flag, err)
		}
		some = append(some, c)
	}
	return some, nil
}

func names(all []race.Contender) []string {
	var s []string
	for _, c := range all {
		s = append(s, c.Name)
	}
	return s
}

// families returns the families named in a list; "all", "synthetic", "real", "unlike", "deciding", "ideas" and
// "held-out" are groups.
func families(list string) ([]sim.Family, error) {
	all := race.Families()
	known := slices.Concat(all, race.Unlike(), race.Ideas(), race.HeldOut())
	groups := map[string][]sim.Family{
		"all": all, "synthetic": race.Synthetic(), "real": all[len(race.Synthetic()):], "unlike": race.Unlike(),
		"deciding": race.Deciding(), "ideas": race.Ideas(), "held-out": race.HeldOut(),
	}
	var some []sim.Family
	for _, name := range split(list) {
		if group, ok := groups[name]; ok {
			some = append(some, group...)
			continue
		}
		i := slices.IndexFunc(known, func(f sim.Family) bool { return f.String() == name })
		if i < 0 {
			var names []string
			for _, f := range known {
				names = append(names, f.String())
			}
			return nil, cli.Usagef("--families: unknown family %q: it is one of %s; or all, synthetic, real, unlike, "+
				"deciding, ideas, held-out", name, strings.Join(names, ", "))
		}
		some = append(some, known[i])
	}
	return some, nil
}

// split cuts a list at its commas.
func split(list string) []string {
	var items []string
	for _, item := range strings.Split(list, ",") {
		items = append(items, strings.TrimSpace(item))
	}
	return items
}
