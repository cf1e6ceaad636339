package bandit

import (
	"fmt"
	"math"
)

// AnyScale reports whether p takes rewards on any scale, as its method AnyScale says. A policy without that method
// expects them in [0, 1].
func AnyScale(p Policy) bool {
	s, ok := p.(interface{ AnyScale() bool })
	return ok && s.AnyScale()
}

// Normalize gives p rewards in [0, 1]. Reward x becomes (x − lo)/(hi − lo), and what then lies outside is clipped, so a
// score below lo counts as lo and one above hi as hi. It panics unless lo < hi and hi − lo is finite.
func Normalize(p Policy, lo, hi float64) Policy {
	if !(lo < hi && finite(hi-lo)) {
		panicf("Normalize(%v, %v, %v): need lo < hi, finite", p, lo, hi)
	}
	return withForget(&normalized{p, lo, hi, false}, p)
}

// Rescale is [Normalize] by the lowest and the highest reward so far, the one that is told among them; while they are
// equal, it is told as 0. So all rewards times a positive number and plus another change nothing but by rounding. What p
// was told stays: the highest reward so far was told as 1, and is told as less once there is a higher one, so a mean
// favors rewards that came early. If p takes any scale, Rescale returns p itself.
func Rescale(p Policy) Policy {
	if AnyScale(p) {
		return p
	}
	return withForget(&normalized{p, math.Inf(1), math.Inf(-1), true}, p)
}

type normalized struct {
	Policy
	lo, hi float64
	grows  bool // lo and hi are those of the rewards so far
}

var _ Policy = (*normalized)(nil)

func (n *normalized) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	if n.grows {
		n.lo, n.hi = min(n.lo, reward), max(n.hi, reward)
	}
	n.Policy.Update(pull, unit(reward, n.lo, n.hi))
}

func (n *normalized) AnyScale() bool { return true }

func (n *normalized) String() string {
	if n.grows {
		return fmt.Sprintf("Rescale(%s)", nameOf(n.Policy))
	}
	return fmt.Sprintf("Normalize(%s, %v, %v)", nameOf(n.Policy), n.lo, n.hi)
}

// unit maps [lo, hi] to [0, 1] and clips what lies outside. It takes halves, as hi − lo may overflow. If there is
// nothing between lo and hi it returns 0.
func unit(x, lo, hi float64) float64 {
	if span := hi/2 - lo/2; span > 0 {
		return min(max((x/2-lo/2)/span, 0), 1)
	}
	return 0
}
