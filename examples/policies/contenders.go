package main

import (
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// own are policies to compare besides those of the library. A policy of yours joins by one line here:
//
//	{Name: "mine", New: func(s bandittest.Setting) bandit.Policy { return &mine{Rounds: s.Rounds, Arms: s.Arms} }},
//
// New is called for each run, from several goroutines at once.
var own = []bandittest.Contender{}

// contenders returns all policies that can be compared: those that the other examples take as --algo, in
// that order, ei-prior unless logs are played, and own ones.
func contenders(logs bool) []bandittest.Contender {
	var all []bandittest.Contender
	ceiling := 1.0 // of families
	if logs {
		ceiling = 0 // on any scale
	}
	for _, key := range cli.PolicyKeys() {
		all = append(all, bandittest.Contender{Name: key, New: func(s bandittest.Setting) bandit.Policy {
			p, err := cli.Policy(key, cli.Game{T: s.Rounds, Ceiling: ceiling})
			if err != nil {
				panic(err) // the key is one of cli's own
			}
			return p
		}})
	}
	if !logs {
		all = append(all, informed())
	}
	return append(all, own...)
}

// chosen returns the contenders named in a list, in its order; "all" is every one there is.
func chosen(list string, logs bool) ([]bandittest.Contender, error) {
	all := contenders(logs)
	if list == "all" {
		return all, nil
	}
	var some []bandittest.Contender
	for _, name := range split(list) {
		i := slices.IndexFunc(all, func(c bandittest.Contender) bool { return c.Name == name })
		if i < 0 {
			return nil, cli.Usagef("--policies: unknown policy %q: it is one of %s, or all", name, strings.Join(names(all), ", "))
		}
		some = append(some, all[i])
	}
	return some, nil
}

func names(all []bandittest.Contender) []string {
	var s []string
	for _, c := range all {
		s = append(s, c.Name)
	}
	return s
}

// families returns the families named in a list; "all", "synthetic" and "real" are groups.
func families(list string) ([]bandittest.Family, error) {
	all := bandittest.Families()
	climbs := all[len(bandittest.Synthetic()):]
	var some []bandittest.Family
	for _, name := range split(list) {
		switch name {
		case "all":
			some = append(some, all...)
			continue
		case "synthetic":
			some = append(some, bandittest.Synthetic()...)
			continue
		case "real":
			some = append(some, climbs...)
			continue
		}
		i := slices.IndexFunc(all, func(f bandittest.Family) bool { return f.String() == name })
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
