package compare

import (
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/lab/searches"
)

// offered are the searches that can be asked for. Append a group of your own here.
func offered() []searches.Group { return searches.Groups() }

// groups returns all searches, and those of each group. The group all has all of them.
func groups() (all []compare.Search, of map[string][]compare.Search) {
	of = map[string][]compare.Search{}
	for _, g := range offered() {
		of[g.Name] = g.Searches
		all = append(all, g.Searches...)
	}
	of["all"] = all
	return all, of
}

// described says which searches there are, by group.
func described() string {
	var list []string
	for _, g := range offered() {
		list = append(list, g.Name+": "+strings.Join(names(g.Searches), ", "))
	}
	return strings.Join(list, "; ")
}

// single reports whether a search is one that a portfolio has to match: not a portfolio, and with all of its parts.
func single(name string) bool {
	_, of := groups()
	for _, group := range []string{"portfolios", "drift-portfolios", "placebos"} {
		if slices.Contains(names(of[group]), name) {
			return false
		}
	}
	return true
}
