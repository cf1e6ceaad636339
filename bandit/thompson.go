package bandit

import (
	"cmp"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/bandit/internal/argmax"
)

// GaussianThompson is Thompson sampling for rewards with Gaussian noise of known size σ. An arm is pulled
// with the chance that a draw from its posterior is the largest. With n outcomes of mean x̄ the posterior of
// an arm's mean reward is normal, with
//
//	mean (s₀·μ₀ + n·x̄)/(s₀ + n)  and standard deviation σ/sqrt(s₀ + n)
//
// where μ₀ is the prior mean and s₀ the number of outcomes that the prior is worth. The chances
//
//	p_i = ∫ φ_i(x)·Π_{j≠i} Φ_j(x) dx
//
// are integrated numerically, to 1e-10, and not estimated by drawing.
//
// They depend on the outcomes that are in, and not on pending pulls. Several draws in a row still differ,
// since each is random.
//
// Sources: W. R. Thompson, "On the likelihood that one unknown probability exceeds another in view of the
// evidence of two samples", Biometrika 25 (1933); D. Russo, B. Van Roy, A. Kazerouni, I. Osband, Z. Wen, "A
// Tutorial on Thompson Sampling" (2018); the constants are those of "BaSE", arXiv:2605.29268.
type GaussianThompson struct {
	// Sigma is the standard deviation σ of a reward; 0 means 0.1. It panics at the first draw
	// if it is negative or not finite.
	Sigma float64
	// PriorMean is μ₀; 0 means 0.5. For a prior mean of zero give it a tiny value. It panics at
	// the first draw if it is not finite.
	PriorMean float64
	// PriorStrength is s₀; 0 means 1. It panics at the first draw if it is negative or not
	// finite.
	PriorStrength float64

	seen Tally
	max  argmax.Normal // scratch
}

var _ Forgetter = (*GaussianThompson)(nil)

// params returns σ, μ₀ and s₀ with the defaults filled in.
func (g *GaussianThompson) params() (sigma, mean, strength float64) {
	return cmp.Or(g.Sigma, 0.1), cmp.Or(g.PriorMean, 0.5), cmp.Or(g.PriorStrength, 1)
}

// Probs fills p with the chance that the draw of each open arm is the largest among the open arms.
func (g *GaussianThompson) Probs(p []float64, r Round) {
	sigma, mean, strength := g.params()
	if !(sigma > 0 && finite(sigma)) {
		panicf("GaussianThompson.Sigma is %v: need a finite number, at least 0", sigma)
	}
	if !finite(mean) {
		panicf("GaussianThompson.PriorMean is %v: need a finite number", mean)
	}
	if !(strength > 0 && finite(strength)) {
		panicf("GaussianThompson.PriorStrength is %v: need a finite number, at least 0", strength)
	}
	g.max.Reset()
	for arm, open := range r.Open {
		if open {
			n := g.seen.Pulls(arm)
			// A mean of two means, where a sum of rewards could overflow.
			prior, data := strength/(strength+n), n/(strength+n)
			g.max.Add(arm, prior*mean+data*g.seen.Mean(arm), sigma/math.Sqrt(strength+n))
		}
	}
	g.max.Probs(p)
}

// Update records one outcome.
func (g *GaussianThompson) Update(pull Pull, reward float64) { g.seen.Add(pull.Arm, reward) }

// Forget discounts the numbers of outcomes n by gamma.
func (g *GaussianThompson) Forget(gamma float64) { g.seen.Discount(gamma) }

// String names the policy and its parameters.
func (g *GaussianThompson) String() string {
	sigma, mean, strength := g.params()
	return fmt.Sprintf("GaussianThompson(sigma=%v, mean=%v, strength=%v)", sigma, mean, strength)
}
