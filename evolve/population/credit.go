package population

import (
	"fmt"
	"math"
)

// Improved is 1 for a child that is strictly better than its parent, and else 0: for one that is not, that is
// invalid, that has no program, or that a gate refused. Nothing is learned from a call that brought no answer, because
// that is the endpoint's doing.
func Improved(b Birth) (reward float64, ok bool) {
	if b.Asked() && !b.Answered() {
		return 0, false
	}
	if b.Improved() {
		return 1, true
	}
	return 0, true
}

// Lift is by how much a child is better than its parent, in units of scale:
//
//	max(0, score − parent's score)/scale
//
// and 0 for an invalid child and one without a score. A child of an invalid parent that is valid itself is worth 1.
// LLM-Evo takes as scale the standard deviation of 20 evaluations of the initial program; in a task without noise,
// take a gain that matters. Rewards can be above 1. It panics if scale is not a finite number above 0.
func Lift(scale float64) func(Birth) (reward float64, ok bool) {
	if !(scale > 0) || math.IsInf(scale, 1) {
		panic(fmt.Sprintf("population: Lift(%v): need a finite number above 0", scale))
	}
	return func(b Birth) (float64, bool) {
		improved, ok := Improved(b)
		if improved == 0 || !b.Parent.Result.Valid {
			return improved, ok
		}
		return min((b.Result.Score-b.Parent.Result.Score)/scale, math.MaxFloat64), ok
	}
}

// Rank is the share of the archive's valid members, or those of the island that bred, that the child is better than,
// with equals counting half. A child without a valid score has 0. In contrast to [Improved] it tells operators apart
// late in a search too, when children that are better than their parent are rare.
func Rank(b Birth) (reward float64, ok bool) {
	if _, ok = Improved(b); !ok || !b.Scored() || !b.Result.Valid {
		return 0, ok
	}
	below, n := 0.0, 0.0
	for _, m := range b.Among() {
		switch {
		case !m.Result.Valid:
			continue
		case m.Result.Score < b.Result.Score:
			below++
		case m.Result.Score == b.Result.Score:
			below += 0.5
		}
		n++
	}
	if n == 0 {
		return 1, true
	}
	return below / n, true
}
