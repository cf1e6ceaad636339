package bandit

import "fmt"

// Normalize gives p rewards in [0, 1]. Reward x becomes (x − lo)/(hi − lo), and what then lies outside is
// clipped, so a score below lo counts as lo and one above hi as hi. It panics if p is nil, or unless lo < hi
// and hi − lo is finite.
func Normalize(p Policy, lo, hi float64) Policy {
	if p == nil {
		panicf("Normalize of a nil policy")
	}
	if !(lo < hi && finite(hi-lo)) {
		panicf("Normalize(%v, %v, %v): need lo < hi, finite", p, lo, hi)
	}
	return withForget(&normalized{p, lo, hi}, p)
}

type normalized struct {
	Policy
	lo, hi float64
}

var _ Policy = (*normalized)(nil)

func (n *normalized) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	n.Policy.Update(pull, unit(reward, n.lo, n.hi))
}

func (n *normalized) String() string {
	return fmt.Sprintf("Normalize(%s, %v, %v)", nameOf(n.Policy), n.lo, n.hi)
}

// unit maps [lo, hi] to [0, 1] and clips what lies outside.
func unit(x, lo, hi float64) float64 { return min(max((x-lo)/(hi-lo), 0), 1) }
