package sweep

import (
	"fmt"
	"math"
)

// A confidence is a confidence sequence for the mean of values in [0, 1] that are independent, or at least have that
// mean given the earlier ones. It may be checked after every value, and sampling may stop at any check: the probability
// that it ever excludes the true mean is at most alpha. An interval for a fixed number of values has that probability
// at each check, and with enough checks excludes anything.
//
// It is the hedged capital of Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (J. R.
// Stat. Soc. B 86, 2024), the hedged capital process with predictable plug-in bets. For each candidate mean m a capital
// of 1 is bet, half on values above m, and half on values below:
//
//	K⁺ₜ(m) = Π (1 + min(λᵢ, c/m)·(xᵢ − m))        K⁻ₜ(m) = Π (1 − min(λᵢ, c/(1−m))·(xᵢ − m))
//	λₜ = √(2·ln(2/α) / (σ̂²ₜ₋₁ · t · ln(1+t)))
//	μ̂ₜ = (½ + Σ xᵢ)/(t+1)      σ̂²ₜ = (¼ + Σ (xᵢ − μ̂ᵢ)²)/(t+1)
//
// with c = ½. If m is the mean, no bet has a positive expected gain, so by Ville's inequality max(½K⁺, ½K⁻) ever
// reaches 1/α with a probability of at most α. The sequence excludes each m for which it does.
type confidence struct {
	alpha  float64
	values []float64
	bets   []float64 // λ for each value
	sum    float64   // of values
	square float64   // of their squared distances from the mean estimated after each
}

// newConfidence returns a sequence without values. It panics unless 0 < alpha < 1.
func newConfidence(alpha float64) *confidence {
	if !(alpha > 0 && alpha < 1) {
		panic(fmt.Sprintf("sweep: a confidence sequence with alpha %v: need more than 0, and less than 1", alpha))
	}
	return &confidence{alpha: alpha}
}

// truncation is c, the share of a capital that one bet can lose.
const truncation = 0.5

// add takes in the next value. It panics unless x is in [0, 1].
func (s *confidence) add(x float64) {
	if !(x >= 0 && x <= 1) {
		panic(fmt.Sprintf("sweep: a confidence sequence got %v: need 0 to 1", x))
	}
	t := float64(len(s.values) + 1)
	variance := (0.25 + s.square) / t // after t-1 values
	s.bets = append(s.bets, math.Sqrt(2*math.Log(2/s.alpha)/(variance*t*math.Log(1+t))))
	s.values = append(s.values, x)
	s.sum += x
	d := x - (0.5+s.sum)/(t+1)
	s.square += d * d
}

// mean returns the mean of the values, ½ if there are none.
func (s *confidence) mean() float64 {
	if len(s.values) == 0 {
		return 0.5
	}
	return s.sum / float64(len(s.values))
}

// excludes reports whether the values so far exclude the mean m. Further values may include it again, but the first
// exclusion counts.
func (s *confidence) excludes(m float64) bool { return s.logCapital(m) >= -math.Log(s.alpha) }

// logCapital returns ln max(½K⁺(m), ½K⁻(m)).
func (s *confidence) logCapital(m float64) float64 {
	above, below := 0.0, 0.0
	for i, x := range s.values {
		above += math.Log1p(min(s.bets[i], truncation/m) * (x - m))
		below += math.Log1p(-min(s.bets[i], truncation/(1-m)) * (x - m))
	}
	return max(above, below) - math.Ln2
}

// interval returns the smallest and the largest mean that the values so far do not exclude, to 1e-6, and [0, 1] for no
// values.
func (s *confidence) interval() (low, high float64) {
	return s.edge(0), s.edge(1)
}

// edge returns the end of the interval on the side of the bound, 0 or 1, by bisection: the capital falls from the bound
// towards the mean.
func (s *confidence) edge(bound float64) float64 {
	out, in := bound, s.mean()
	if !s.excludes(out) {
		return out
	}
	for math.Abs(out-in) > 1e-7 {
		if mid := (out + in) / 2; s.excludes(mid) {
			out = mid
		} else {
			in = mid
		}
	}
	return in
}
