package bandit

import (
	"cmp"
	"fmt"
)

// PaperEXP3P is EXP3.P in the simplified form of the code of the BaSE paper. It has the name and the
// constants of EXP3.P but not its confidence term, so the high-probability regret bound of the textbook
// algorithm, [EXP3P], does not hold for it. Each arm has a weight w, 1 at first. An arm is drawn with
//
//	p = (1−γ)·w/Σw + γ/K
//
// where K is the number of arms. When its reward x comes in, only the weight of the arm pulled changes:
//
//	ĝ = g/(p + γ/2K), g = x clipped to [0, 1]
//	w ← w·exp(η·ĝ)
//
// The γ/2K keeps ĝ below 2K/γ at the price of a bias downwards, as in implicit exploration. Weights are kept
// as logarithms, so they cannot overflow.
//
// After a long run it stays with one arm for good, and not always with the best. Once an arm is ahead by some
// ln(K/γ) in ln w it is drawn with p = 1−γ+γ/K, and ln w grows by η·g·p/(p + γ/2K) a round, nearly η·g. An arm
// behind is drawn with γ/K, so the bias takes a third: its ln w grows by ⅔·η·g a round on average. So it
// catches up only if its g is above 1.49 times the leader's at K = 10 (1.46 at K = 2), and then takes as long
// as the lead took to grow. With nine arms of reward 0.5 and one of 0.6, 25 of 200 runs settled on a wrong arm,
// the last change of leader coming after 1200 rounds on average; with 0.7 it was 4 runs, after 440. Take
// [EXP3P] or [Discounted] where runs are long.
//
// The p in ĝ is the propensity when the arm was drawn ([Pull].Prob), not when the outcome arrives. So ĝ stays
// the right estimate with several pulls pending, and under [WithFloor] or [Mix]. While arms are closed the
// sum is over the open ones and γ/K becomes γ/(number of open arms). The mass of the closed arms then goes to
// the others in proportion to their weights, and none of them is starved. The weight of a closed arm is kept.
//
// Sources: "BaSE", arXiv:2605.29268, and its code. The full algorithm: P. Auer, N. Cesa-Bianchi, Y. Freund,
// R. Schapire, "The Nonstochastic Multiarmed Bandit Problem", SIAM J. Comput. 32 (2002), section 6; S.
// Bubeck, N. Cesa-Bianchi, "Regret Analysis of Stochastic and Nonstochastic Multi-armed Bandit Problems"
// (2012), section 3.2.
type PaperEXP3P struct {
	// Eta is the learning rate η; 0 means 0.07. It panics at the first draw if it is negative
	// or not finite.
	Eta float64
	// Gamma is the share γ of uniform exploration; 0 means 0.1. It panics at the first draw if
	// it is not in (0, 1].
	Gamma float64

	logw []float64 // logarithms of the weights
}

var _ Forgetter = (*PaperEXP3P)(nil)

// withDefaults returns the parameters alone, with the defaults filled in.
func (e *PaperEXP3P) withDefaults() PaperEXP3P {
	return PaperEXP3P{Eta: cmp.Or(e.Eta, 0.07), Gamma: cmp.Or(e.Gamma, 0.1)}
}

func (e *PaperEXP3P) validate() {
	if !(e.Eta > 0 && finite(e.Eta)) {
		panicf("PaperEXP3P.Eta is %v: need a finite number, at least 0", e.Eta)
	}
	if !(e.Gamma > 0 && e.Gamma <= 1) {
		panicf("PaperEXP3P.Gamma is %v: need a number in [0, 1]", e.Gamma)
	}
}

// Probs fills p with (1−γ)·w/Σw + γ/K over the open arms.
func (e *PaperEXP3P) Probs(p []float64, r Round) {
	cfg := e.withDefaults()
	cfg.validate()
	e.logw = grown(e.logw, len(p))
	expWeights(p, e.logw, 1, r.Open)
	mixUniform(p, r.Open, cfg.Gamma)
}

// Update multiplies the weight of the arm pulled by exp(η·ĝ).
func (e *PaperEXP3P) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	cfg := e.withDefaults()
	e.logw = grown(e.logw, max(pull.Arms, pull.Arm+1))
	g := unit(reward, 0, 1)
	e.logw[pull.Arm] += cfg.Eta * g / (pull.Prob + cfg.Gamma/(2*float64(len(e.logw))))
}

// Forget multiplies the logarithms of the weights by gamma. They are then η·Σγᵏ·ĝ, the estimated gains
// discounted.
func (e *PaperEXP3P) Forget(gamma float64) {
	for arm := range e.logw {
		e.logw[arm] *= gamma
	}
}

// String names the policy and its parameters, with the range of rewards, as journals have it.
func (e *PaperEXP3P) String() string {
	cfg := e.withDefaults()
	return fmt.Sprintf("PaperEXP3P(eta=%v, gamma=%v, min=0, max=1)", cfg.Eta, cfg.Gamma)
}
