package population

import (
	"cmp"
	"fmt"
	"math/rand/v2"
)

// Tournament returns a selector of the best of k members that are drawn uniformly, the same one perhaps twice. 0 means
// 2.
//
// Source: D. E. Goldberg, K. Deb, "A Comparative Analysis of Selection Schemes Used in Genetic Algorithms", Foundations
// of Genetic Algorithms 1 (1991).
func Tournament(k int) Selector { return tournament(k) }

type tournament int

func (k tournament) validate() error {
	if k < 0 {
		return fmt.Errorf("population: Tournament(%d): need 0 for 2, or more", int(k))
	}
	return nil
}

// Select returns one of from.
func (k tournament) Select(from []*Member, r *rand.Rand) *Member {
	var best *Member
	for range cmp.Or(int(k), 2) {
		if m := from[r.IntN(len(from))]; best == nil || outranks(m, best) {
			best = m
		}
	}
	return best
}

// String names the selector.
func (k tournament) String() string { return fmt.Sprintf("Tournament(%d)", cmp.Or(int(k), 2)) }
