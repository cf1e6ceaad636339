package main

import (
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// own are policies to compare besides those of the library. A policy of yours joins by one line here:
//
//	{Name: "mine", New: func(s sim.Setting) bandit.Policy { return &mine{Rounds: s.Rounds, Arms: s.Arms} }},
//
// New is called for each run, from several goroutines at once.
var own = []sim.Contender{}

// contenders returns all policies that can be compared: those that the other examples take as --algo, in
// that order, ei-prior unless recorded searches are played, and own ones.
func (o *options) contenders() []sim.Contender {
	var all []sim.Contender
	for _, key := range cli.PolicyKeys() {
		all = append(all, sim.Contender{Name: key, New: func(s sim.Setting) bandit.Policy {
			p, err := cli.Policy(key, cli.Game{T: s.Rounds, Ceiling: o.ceiling(s)})
			if err != nil {
				panic(err) // the key is one of cli's own
			}
			return p
		}})
	}
	if !o.logged() && len(o.banks) == 0 {
		all = append(all, informed())
	}
	return append(all, own...)
}

// logged reports whether policies are played over logged searches.
func (o *options) logged() bool { return o.logs != "" || o.estimate != "" }

// ceiling returns the best score that is known: that of the families, or of the task that the logs or the bank
// are of.
func (o *options) ceiling(s sim.Setting) float64 {
	if b, ok := s.Family.(*sim.Bank); ok {
		return cli.Ceiling(b.Task)
	}
	if o.logged() {
		return cli.Ceiling(o.task)
	}
	return 1
}

// chosen returns the contenders named in a flag's list, in its order; "all" is every one there is.
func (o *options) chosen(flag, list string) ([]sim.Contender, error) {
	all := o.contenders()
	if list == "all" {
		return all, nil
	}
	var some []sim.Contender
	for _, name := range split(list) {
		i := slices.IndexFunc(all, func(c sim.Contender) bool { return c.Name == name })
		if i < 0 {
			return nil, cli.Usagef("--%s: unknown policy %q: it is one of %s, or all", flag, name, strings.Join(names(all), ", "))
		}
		some = append(some, all[i])
	}
	return some, nil
}

func names(all []sim.Contender) []string {
	var s []string
	for _, c := range all {
		s = append(s, c.Name)
	}
	return s
}

// families returns the families named in a list; "all", "synthetic" and "real" are groups.
func families(list string) ([]sim.Family, error) {
	all := sim.Families()
	climbs := all[len(sim.Synthetic()):]
	var some []sim.Family
	for _, name := range split(list) {
		switch name {
		case "all":
			some = append(some, all...)
			continue
		case "synthetic":
			some = append(some, sim.Synthetic()...)
			continue
		case "real":
			some = append(some, climbs...)
			continue
		}
		i := slices.IndexFunc(all, func(f sim.Family) bool { return f.String() == name })
		if i < 0 {
			var known []string
			for _, f := range all {
				known = append(known, f.String())
			}
			return nil, cli.Usagef("--families: unknown family %q: it is one of %s; or all, synthetic, real", name, strings.Join(known, ", "))
		}
		some = append(some, all[i])
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
