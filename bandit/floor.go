package bandit

import "fmt"

// WithFloor keeps a share epsilon of uniform exploration. An open arm that p gives the chance q is pulled
// with
//
//	(1 − epsilon)·q + epsilon/K
//
// where K is the number of open arms, so with at least epsilon/K. That makes a policy that always pulls the
// best arm epsilon-greedy. It also makes the log fit for off-policy estimates, which need every propensity to
// be positive. p is told the true propensity. It panics if epsilon is not in [0, 1].
func WithFloor(p Policy, epsilon float64) Policy {
	if !(epsilon >= 0 && epsilon <= 1) {
		panicf("WithFloor(%v, %v): need a share in [0, 1]", p, epsilon)
	}
	return withForget(&floored{p, epsilon}, p)
}

type floored struct {
	Policy
	epsilon float64
}

var _ Policy = (*floored)(nil)

func (f *floored) Probs(p []float64, r Round) {
	f.Policy.Probs(p, r)
	mixUniform(p, r.Open, f.epsilon)
}

func (f *floored) AnyScale() bool { return AnyScale(f.Policy) }

func (f *floored) String() string {
	return fmt.Sprintf("WithFloor(%s, %v)", nameOf(f.Policy), f.epsilon)
}
