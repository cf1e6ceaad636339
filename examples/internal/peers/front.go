package peers

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/population"
)

// front selects as GEPA does. The front of a case are the members with the best score there. Members are left out,
// those with the lowest scores first, if each of their fronts has another that is not; of equals, the one that stands
// on a front first. Of those that are needed each is drawn with a chance in proportion to the number of its fronts.
//
// Source: gepa/gepa_utils.py, select_program_candidate_from_pareto_front.
type front struct{}

var _ population.Selector = front{}

// Select returns one of from.
func (front) Select(from []*population.Member, r *rand.Rand) *population.Member {
	needed, on := neededOf(from)
	return population.ByWeight(func(m *population.Member) float64 { return float64(on[m]) }).Select(needed, r)
}

// String names the selector.
func (front) String() string { return "Front" }

// neededOf returns the members that are needed, by score in ascending order, and of how many fronts each member is.
func neededOf(members []*population.Member) (needed []*population.Member, on map[*population.Member]int) {
	fronts := frontsOf(members)
	on = make(map[*population.Member]int)
	of := make(map[*population.Member][]int)
	left := make([]int, len(fronts))
	for c, f := range fronts {
		left[c] = len(f)
		for _, m := range f {
			if on[m]++; on[m] == 1 {
				needed = append(needed, m)
			}
			of[m] = append(of[m], c)
		}
	}
	slices.SortStableFunc(needed, func(a, b *population.Member) int {
		return cmp.Compare(a.Result.Score, b.Result.Score)
	})
	return slices.DeleteFunc(needed, func(m *population.Member) bool {
		if slices.ContainsFunc(of[m], func(c int) bool { return left[c] == 1 }) {
			return false
		}
		for _, c := range of[m] {
			left[c]--
		}
		return true
	}), on
}

// frontsOf returns the members of each case's front in the order of the list.
func frontsOf(members []*population.Member) (fronts [][]*population.Member) {
	var best []float64
	for _, m := range members {
		for c, score := range casesOf(m) {
			switch {
			case c == len(best):
				best, fronts = append(best, score), append(fronts, []*population.Member{m})
			case score > best[c]:
				best[c], fronts[c] = score, append(fronts[c][:0], m)
			case score == best[c]:
				fronts[c] = append(fronts[c], m)
			}
		}
	}
	return fronts
}

// casesOf returns a member's score in each case. The score of a program without cases is its one case.
func casesOf(m *population.Member) []float64 {
	if len(m.Result.Cases) == 0 {
		return []float64{m.Result.Score}
	}
	return m.Result.Cases
}
