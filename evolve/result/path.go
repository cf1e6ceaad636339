package result

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
)

// Path returns where the paper keeps such a file under a folder of results:
// TASK/MODEL/greedy_C<C>_T<T>_N<N>_seed<seed>.json. A breadth is named after N, as in N64_adaptive, and a search of
// another kind in the place of greedy.
func (g Greedy) Path() string {
	return filepath.Join(g.Task, g.Model, fmt.Sprintf("%s_C%d_T%d_N%d%s_seed%d.json", cmp.Or(g.Kind, "greedy"), g.C, g.T,
		g.N, breadthTag(g.Breadth), g.Seed))
}

// Path returns where the paper keeps such a file under a folder of results:
// bandit/TASK/MODEL/<algo>_C<C>_T<T>_K<arms>_seed<bandit seed>.json. A breadth is named after K, as in K10_adaptive.
// With searches of several kinds the first folder is portfolio.
func (b Bandit) Path() string {
	folder := "bandit"
	if b.Kinds != nil {
		folder = "portfolio"
	}
	return filepath.Join(folder, b.Task, b.Model, fmt.Sprintf("%s_C%d_T%d_K%d%s_seed%d.json", b.Algo, b.C, b.T, b.Arms,
		breadthTag(b.Breadth), b.BanditSeed))
}

// breadthTag is what a breadth adds to a file's name: "_adaptive" for Adaptive(second=0, waste=0.15, 1..64, kept).
func breadthTag(breadth string) string {
	name, _, _ := strings.Cut(breadth, "(")
	name = name[strings.LastIndex(name, ".")+1:] // of a type the name alone
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1 // it may be a user's, and a file's name must not lead elsewhere
	}, strings.ToLower(name))
	switch {
	case breadth == "":
		return ""
	case name == "":
		name = "breadth"
	}
	return "_" + name
}
