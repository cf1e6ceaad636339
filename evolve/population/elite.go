package population

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Elite returns a selector of each member of the best share, in (0, 1], with the same chance. Of few members it is the
// best one. AdaEvolve's exploitation is uniform in the best quarter.
func Elite(share float64) Selector { return elite(share) }

type elite float64

func (e elite) validate() error {
	if !(e > 0 && e <= 1) {
		return fmt.Errorf("population: Elite(%v): need a share above 0, and at most 1", float64(e))
	}
	return nil
}

// Select returns one of from.
func (e elite) Select(from []*Member, r *rand.Rand) *Member {
	n := max(1, int(math.Round(float64(e)*float64(len(from)))))
	return Uniform().Select(byRank(from)[:n:n], r)
}

// String names the share.
func (e elite) String() string { return fmt.Sprintf("Elite(%v by Uniform)", float64(e)) }
