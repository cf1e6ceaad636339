package bandit

import (
	"fmt"
	"math"
)

// EXP3IX is EXP3 with implicit exploration, for rewards that an adversary may choose. It works with losses ℓ
// = 1 − x, where the reward x is clipped to [0, 1]. An arm is drawn with
//
//	p = exp(−η·L̂)/Σexp(−η·L̂)
//
// When its loss comes in, only the estimated loss L̂ of the arm pulled grows, by ℓ/(p + γ). The γ keeps the
// estimate from exploding where p is small. Its price is a bias downwards, which acts as exploration: no arm
// is drawn at random on purpose. With the number T of pulls known,
//
//	η = 2γ = sqrt(2·ln K/(K·T))
//
// where K is the number of arms. With probability 1−δ, for any δ, the regret against the best single arm is
// then at most 2·sqrt(2·K·T·ln K) + (sqrt(2·K·T/ln K) + 1)·ln(2/δ), whatever the rewards. If T is not known,
//
//	η = 2γ = sqrt(ln K/(K·t))
//
// at the t-th outcome, for a bound of 4·sqrt(K·T·ln K) + (2·sqrt(K·T/ln K) + 1)·ln(2/δ) at every T.
//
// The p in ℓ/(p + γ) is the propensity when the arm was drawn ([Pull].Prob), so pending pulls are weighed
// right, and t counts the outcomes that are in. While arms are closed the sum is over the open ones; the loss
// of a closed arm is kept.
//
// Source: G. Neu, "Explore no more: Improved high-probability regret bounds for non-stochastic bandits", NIPS
// 2015, theorem 1.
type EXP3IX struct {
	// T is the number of pulls of all arms in the whole run; 0 means not known: the rates fall as outcomes
	// come in. It panics at the first draw if it is negative.
	T int

	loss []float64
	n    float64 // outcomes
}

var _ Forgetter = (*EXP3IX)(nil)

// Probs fills p with exp(−η·L̂)/Σexp(−η·L̂) over the open arms.
func (e *EXP3IX) Probs(p []float64, r Round) {
	if e.T < 0 {
		panicf("EXP3IX.T is %v: need a number of pulls, or 0 for not known", e.T)
	}
	e.loss = grown(e.loss, len(p))
	expWeights(p, e.loss, -e.eta(), r.Open)
}

// eta returns η at the coming outcome. K is the number of arms, which Probs and Update are both told.
func (e *EXP3IX) eta() float64 {
	k := float64(len(e.loss))
	if e.T > 0 {
		return math.Sqrt(2 * math.Log(k) / (k * float64(e.T)))
	}
	return math.Sqrt(math.Log(k) / (k * (e.n + 1)))
}

// Update adds to the estimated loss of the arm pulled.
func (e *EXP3IX) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	e.loss = grown(e.loss, max(pull.Arms, pull.Arm+1))
	// A reward of 1 is no loss, with one arm also where p + γ is 0.
	if loss := 1 - unit(reward, 0, 1); loss > 0 {
		e.loss[pull.Arm] += loss / (pull.Prob + e.eta()/2)
	}
	e.n++
}

// Forget discounts the estimated losses by gamma, and the number of outcomes t as well.
func (e *EXP3IX) Forget(gamma float64) {
	for arm := range e.loss {
		e.loss[arm] *= gamma
	}
	e.n *= gamma
}

// String names the policy and its parameters.
func (e *EXP3IX) String() string { return fmt.Sprintf("EXP3IX(T=%v)", e.T) }
