package population

import (
	"cmp"
	"github.com/evoalloc/evoalloc/internal/stream"
	"math/rand/v2"
	"slices"
)

// Fronts returns a selector by the cases of evaluations, GEPA's. Of those that [Needed] returns, it draws each with a
// chance in proportion to the number of its fronts.
func Fronts() Selector { return byFronts{} }

type byFronts struct{}

// Select returns one of from.
func (byFronts) Select(from []Member, r *rand.Rand) int {
	needed, fronts := Needed(from)
	weights := make([]float64, len(needed))
	for i, at := range needed {
		weights[i] = float64(len(fronts[at]))
	}
	return needed[stream.Draw(weights, r)]
}

// String names the selector.
func (byFronts) String() string { return "Front" }

// Needed returns the indices of the members without which a front were empty, by score in ascending order, and the cases
// of whose fronts each member is, by index. The front of a case are the members with the best score there. Members are
// left out, those with the lowest scores first, if each of their fronts has another that is not; of equals, the one that
// stands on a front first.
//
// Source: gepa/gepa_utils.py, select_program_candidate_from_pareto_front.
func Needed(members []Member) (needed []int, fronts map[int][]int) {
	fronts = make(map[int][]int)
	on := frontsOf(members)
	left := make([]int, len(on))
	for c, f := range on {
		left[c] = len(f)
		for _, i := range f {
			if fronts[i] == nil {
				needed = append(needed, i)
			}
			fronts[i] = append(fronts[i], c)
		}
	}
	slices.SortStableFunc(needed, func(a, b int) int {
		return cmp.Compare(members[a].Result.Score, members[b].Result.Score)
	})
	return slices.DeleteFunc(needed, func(i int) bool {
		if slices.ContainsFunc(fronts[i], func(c int) bool { return left[c] == 1 }) {
			return false
		}
		for _, c := range fronts[i] {
			left[c]--
		}
		return true
	}), fronts
}

// frontsOf returns the indices of the members of each case's front.
func frontsOf(members []Member) (fronts [][]int) {
	var best []float64
	for i := range members {
		for c, score := range members[i].Cases() {
			switch {
			case c == len(best):
				best, fronts = append(best, score), append(fronts, []int{i})
			case score > best[c]:
				best[c], fronts[c] = score, append(fronts[c][:0], i)
			case score == best[c]:
				fronts[c] = append(fronts[c], i)
			}
		}
	}
	return fronts
}

// Cases returns the member's score in each case. The score of a program without cases is its one case.
func (m Member) Cases() []float64 {
	if len(m.Result.Cases) == 0 {
		return []float64{m.Result.Score}
	}
	return m.Result.Cases
}
