package population

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Elite selects by another selector among the best share of the members, at least one. AdaEvolve's exploitation is
// uniform in the best quarter.
type Elite struct {
	Share float64  // in (0, 1]
	By    Selector // nil means Uniform
}

var _ Selector = Elite{}

func (e Elite) validate() error {
	if !(e.Share > 0 && e.Share <= 1) {
		return fmt.Errorf("population: Elite.Share is %v: need a share above 0, and at most 1", e.Share)
	}
	return valid(e.by())
}

func (e Elite) by() Selector {
	if e.By == nil {
		return Uniform{}
	}
	return e.By
}

// Select returns one of from.
func (e Elite) Select(from []*Member, r *rand.Rand) *Member {
	n := max(1, int(math.Round(e.Share*float64(len(from)))))
	return e.by().Select(byRank(from)[:n:n], r)
}

// String names the share and the selector.
func (e Elite) String() string { return fmt.Sprintf("Elite(%v by %s)", e.Share, nameOf(e.by())) }
