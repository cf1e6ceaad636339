package population

import (
	"math"
	"math/rand/v2"
)

// Fronts returns an archive of the programs that are the best at some case (GEPA). The front of a case are the members
// with exactly the best score there. A member stays as long as it is needed: as long as there is a case whose front
// would be empty without it, when those with lower scores are left out first.
//
// Cases are those of eval.Result.Cases. The score of a program without any is its one case, and one that it does not
// have it is the worst at. With one case Fronts is Top(1). It pays in tasks with many cases, in which programs differ
// in what they are good at. Where cases are binary and many, it hardly selects, and crossing its members is what pays.
//
// Source: L. A. Agrawal et al., "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning"
// (arXiv 2507.19457), algorithm 2.
func Fronts() Archive { return &fronts{} }

type fronts struct{ ranked }

// Add keeps m if it is needed, and drops those that are not any more. Of members that are equal everywhere the older
// stays.
func (f *fronts) Add(m *Member) bool {
	f.add(m)
	kept := needed(f.list)
	in := false
	for _, k := range kept {
		in = in || k == m
	}
	f.list = kept
	return in
}

// String names the archive.
func (f *fronts) String() string { return "Fronts" }

// FrontFrequency returns a selector of a member with a chance in proportion to the number of fronts that it is on
// (GEPA). It sees only the members that [Fronts] would keep, whatever the archive is.
func FrontFrequency() Selector { return frontFrequency{} }

type frontFrequency struct{}

// Select returns one of from.
func (frontFrequency) Select(from []*Member, r *rand.Rand) *Member {
	kept := needed(byRank(from))
	on := frontsOf(kept)
	weights := make([]float64, len(kept))
	for _, front := range on {
		for _, i := range front {
			weights[i]++
		}
	}
	return kept[weighted(weights, r)]
}

// String names the selector.
func (frontFrequency) String() string { return "FrontFrequency" }

// needed returns the members of a list, best first, without those whose fronts all keep another. The worst are tried
// first.
func needed(list []*Member) []*Member {
	all := frontsOf(list)
	left := make([]int, len(all))  // members of each front
	of := make([][]int, len(list)) // fronts of each member
	for c, front := range all {
		left[c] = len(front)
		for _, i := range front {
			of[i] = append(of[i], c)
		}
	}
	drop := make([]bool, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		drop[i] = true
		for _, c := range of[i] {
			drop[i] = drop[i] && left[c] > 1
		}
		if drop[i] {
			for _, c := range of[i] {
				left[c]--
			}
		}
	}
	kept := make([]*Member, 0, len(list))
	for i, m := range list {
		if !drop[i] {
			kept = append(kept, m)
		}
	}
	return kept
}

// frontsOf returns the front of each case, as indices into list.
func frontsOf(list []*Member) [][]int {
	n := 1
	for _, m := range list {
		n = max(n, len(m.Result.Cases))
	}
	fronts := make([][]int, n)
	for c := range fronts {
		best := math.Inf(-1)
		for i, m := range list {
			switch s := caseScore(m, c); {
			case s > best:
				best, fronts[c] = s, append(fronts[c][:0], i)
			case s == best:
				fronts[c] = append(fronts[c], i)
			}
		}
	}
	return fronts
}

// caseScore returns the score of m in a case, −Inf if it has none there.
func caseScore(m *Member, c int) float64 {
	switch {
	case !m.Result.Valid:
		return math.Inf(-1)
	case len(m.Result.Cases) == 0 && c == 0:
		return m.Result.Score
	case c < len(m.Result.Cases):
		return m.Result.Cases[c]
	}
	return math.Inf(-1)
}
