package population

import (
	"cmp"
	"fmt"
	"math/rand/v2"
)

// Tournament(k) selects the best of k members that are drawn uniformly, the same one perhaps twice. 0 means 2.
//
// Source: D. E. Goldberg, K. Deb, "A Comparative Analysis of Selection Schemes Used in Genetic Algorithms", Foundations
// of Genetic Algorithms 1 (1991).
type Tournament int

var _ Selector = Tournament(0)

func (k Tournament) validate() error {
	if k < 0 {
		return fmt.Errorf("population: Tournament(%d): need 0 for 2, or more", int(k))
	}
	return nil
}

// Select returns one of from.
func (k Tournament) Select(from []*Member, r *rand.Rand) *Member {
	var best *Member
	for range cmp.Or(int(k), 2) {
		if m := from[r.IntN(len(from))]; best == nil || outranks(m, best) {
			best = m
		}
	}
	return best
}

// String names the selector.
func (k Tournament) String() string { return fmt.Sprintf("Tournament(%d)", cmp.Or(int(k), 2)) }
