package bandit

import "fmt"

// A Forgetter is a [Policy] that can give less weight to what it has learned.
type Forgetter interface {
	Policy
	// Forget multiplies the weight of every outcome so far by gamma, in (0, 1].
	Forget(gamma float64)
}

// Discounted makes p forget. Each time an outcome is recorded, the weight of every earlier one, of whichever
// arm, is first multiplied by gamma. So an outcome that is k updates old weighs gammaᵏ, and about 1/(1−gamma)
// of them count. It is for arms whose rewards drift.
//
// p must be a [Forgetter], since only p knows what it has counted. A wrapper that saw no more than the
// rewards could smooth them, but that slows a policy down and does not make it forget. The policies of this
// package that go by means or by weighted sums of rewards are Forgetters. Those that go by an arm's best
// score, or by its course, are not. Wrappers are if what they wrap is.
//
// [UCB1] becomes D-UCB (A. Garivier, E. Moulines, "On Upper-Confidence Bound Policies for Switching Bandit
// Problems", ALT 2011). [GaussianThompson] becomes discounted Thompson sampling (V. Raj, S. Kalyani, "Taming
// Non-stationary Bandits: A Bayesian Approach", 2017), whose posterior drifts back to the prior. [PaperEXP3P]
// gets the discounted gains of N. Cesa-Bianchi, G. Lugosi, "Prediction, Learning, and Games" (2006), section
// 2.11.
//
// It panics if p is not a Forgetter or gamma is not in (0, 1].
func Discounted(p Policy, gamma float64) Policy {
	f, ok := p.(Forgetter)
	if !ok {
		panicf("Discounted(%v): a %T cannot forget: give it a method Forget(gamma float64)", p, p)
	}
	if !(gamma > 0 && gamma <= 1) {
		panicf("Discounted(%v, %v): need a factor in (0, 1]", p, gamma)
	}
	return &discounted{f, gamma}
}

type discounted struct {
	Forgetter
	gamma float64
}

var _ Forgetter = (*discounted)(nil)

func (d *discounted) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	d.Forget(d.gamma)
	d.Forgetter.Update(pull, reward)
}

func (d *discounted) AnyScale() bool { return AnyScale(d.Forgetter) }

func (d *discounted) String() string {
	return fmt.Sprintf("Discounted(%s, %v)", nameOf(d.Forgetter), d.gamma)
}

// withForget returns w as a Forgetter if all the inner policies that it wraps are Forgetters, else as it is.
// A wrapper that always had the method would promise what its policy cannot do.
func withForget(w Policy, inner ...Policy) Policy {
	for _, p := range inner {
		if _, ok := p.(Forgetter); !ok {
			return w
		}
	}
	return &forgetting{w, inner}
}

// forgetting is a wrapper that passes Forget on to the policies within. It prints as the wrapper does.
type forgetting struct {
	Policy
	inner []Policy
}

var _ Forgetter = (*forgetting)(nil)

func (f *forgetting) Forget(gamma float64) {
	for _, p := range f.inner {
		p.(Forgetter).Forget(gamma)
	}
}

func (f *forgetting) AnyScale() bool { return AnyScale(f.Policy) }

func (f *forgetting) String() string { return nameOf(f.Policy) }
