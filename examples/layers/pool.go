package main

import (
	"cmp"
	"slices"

	"github.com/evoalloc/evoalloc/eval"
)

// freeze chooses at most n of the valid programs that a run found: first the best by score, then one after the other
// the program that raises the most what the pool would score with the best of it at each case, until none does. That sum
// is a submodular function of the pool, so this greedy choice reaches at least 1 − 1/e of the most that n programs can
// raise it (G. Nemhauser, L. Wolsey, M. Fisher, "An analysis of approximations for maximizing submodular set
// functions", 1978).
func freeze(found []eval.Candidate, n int) []eval.Candidate {
	var left []eval.Candidate
	for _, c := range found {
		if c.Result.Valid {
			left = append(left, c)
		}
	}
	if len(left) == 0 {
		return nil
	}
	slices.SortStableFunc(left, func(a, b eval.Candidate) int { return cmp.Compare(b.Result.Score, a.Result.Score) })
	pool, reached := left[:1:1], slices.Clone(left[0].Result.Cases)
	for len(pool) < n {
		next, most := -1, 0.0
		for i, c := range left {
			if g := gain(reached, c.Result.Cases); g > most {
				next, most = i, g
			}
		}
		if next < 0 {
			break
		}
		pool = append(pool, left[next])
		for i, score := range left[next].Result.Cases {
			reached[i] = max(reached[i], score)
		}
	}
	return pool
}

// gain returns by how much cases raise the sum of what is reached at each case.
func gain(reached, cases []float64) (sum float64) {
	for i, score := range cases {
		sum += max(0, score-reached[i])
	}
	return sum
}
