package bandit

import (
	"cmp"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/bandit/internal/argmax"
)

// NormalGamma is Thompson sampling for rewards with Gaussian noise of unknown size. An arm is pulled with the
// chance that a draw from its posterior is the largest. [GaussianThompson] is told the size σ of the noise;
// this policy learns it for each arm, so an arm whose rewards scatter widely is explored for longer. With n
// outcomes of mean x̄ and sum of squared deviations Q from it, the normal-gamma posterior has
//
//	m = (κ₀·μ₀ + n·x̄)/κ,  κ = κ₀ + n,  α = α₀ + n/2,  β = β₀ + Q/2 + κ₀·n·(x̄ − μ₀)²/(2κ)
//
// so that the arm's mean reward is m + sqrt(β/(α·κ))·t, with t Student's of 2α degrees of freedom. The
// chances
//
//	p_i = ∫ f_i(x)·Π_{j≠i} F_j(x) dx
//
// are integrated numerically, to 1e-10, and not estimated by drawing. They depend on the outcomes that are
// in, and not on pending pulls. Several draws in a row still differ, since each is random.
//
// A search's best score so far repeats itself while the search stagnates. Then Q/n falls and the arm's mean
// is soon held to be certain, so with such rewards this policy explores little.
//
// Rewards beyond ±1e100 count as ±1e100.
//
// Sources: M. H. DeGroot, "Optimal Statistical Decisions" (1970), section 9.6, for the posterior; J. Honda,
// A. Takemura, "Optimality of Thompson Sampling for Gaussian Bandits Depends on Priors", AISTATS 2014.
type NormalGamma struct {
	// PriorMean is μ₀; 0 means 0.5. For a prior mean of zero give it a tiny value. It panics at the
	// first draw if it is not within ±1e100.
	PriorMean float64
	// PriorStrength is κ₀, the number of outcomes that the prior mean is worth; 0 means 1. It panics at
	// the first draw if it is negative or not finite.
	PriorStrength float64
	// Shape is α₀, half the number of outcomes that the prior of the noise is worth; 0 means 1. It panics
	// at the first draw if it is less than 1/2 or not finite.
	Shape float64
	// Rate is β₀: a reward's variance is held to be about β₀/α₀; 0 means 0.01, for a standard deviation of
	// 0.1. It panics at the first draw if it is negative or above 1e200.
	Rate float64

	seen spread
	max  argmax.Student // scratch
}

var _ Forgetter = (*NormalGamma)(nil)

// gammaPrior is the parameters with the defaults filled in.
type gammaPrior struct{ mean, strength, shape, rate float64 }

func (g *NormalGamma) prior() gammaPrior {
	return gammaPrior{cmp.Or(g.PriorMean, 0.5), cmp.Or(g.PriorStrength, 1), cmp.Or(g.Shape, 1), cmp.Or(g.Rate, 0.01)}
}

func (g gammaPrior) validate() {
	if !(math.Abs(g.mean) <= 1e100) {
		panicf("NormalGamma.PriorMean is %v: need a number within ±1e100", g.mean)
	}
	if !(g.strength > 0 && finite(g.strength)) {
		panicf("NormalGamma.PriorStrength is %v: need a finite number, at least 0", g.strength)
	}
	if !(g.shape >= 0.5 && finite(g.shape)) {
		panicf("NormalGamma.Shape is %v: need a finite number, at least 1/2, or 0 for 1", g.shape)
	}
	if !(g.rate > 0 && g.rate <= 1e200) {
		panicf("NormalGamma.Rate is %v: need a number in [0, 1e200]", g.rate)
	}
}

// Probs fills p with the chance that the draw of each open arm is the largest among the open arms.
func (g *NormalGamma) Probs(p []float64, r Round) {
	prior := g.prior()
	prior.validate()
	g.max.Reset()
	for arm, open := range r.Open {
		if open {
			mean, scale, nu := g.posterior(arm, prior)
			g.max.Add(arm, mean, scale, nu)
		}
	}
	g.max.Probs(p)
}

// posterior returns the location, the scale and the degrees of freedom of the posterior of arm's mean reward.
func (g *NormalGamma) posterior(arm int, prior gammaPrior) (mean, scale, nu float64) {
	n, k := g.seen.Pulls(arm), prior.strength
	// A mean of two means, where a sum of rewards could overflow.
	before, data := k/(k+n), n/(k+n)
	off := g.seen.Mean(arm) - prior.mean
	shape := prior.shape + n/2
	rate := prior.rate + g.seen.Squares(arm)/2 + before*n*off*off/2
	return before*prior.mean + data*g.seen.Mean(arm), math.Sqrt(rate/shape) / math.Sqrt(k+n), 2 * shape
}

// Update records one outcome.
func (g *NormalGamma) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	g.seen.Add(pull.Arm, min(max(reward, -1e100), 1e100))
}

// Forget discounts the numbers of outcomes n, and the squares Q, by gamma.
func (g *NormalGamma) Forget(gamma float64) { g.seen.Discount(gamma) }

// String names the policy and its parameters.
func (g *NormalGamma) String() string {
	d := g.prior()
	return fmt.Sprintf("NormalGamma(mean=%v, strength=%v, shape=%v, rate=%v)", d.mean, d.strength, d.shape, d.rate)
}
