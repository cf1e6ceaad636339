package bandit

import (
	"cmp"
	"fmt"
	"math"
)

// EXP3P is the textbook EXP3.P, for rewards that an adversary may choose. The form of it in the BaSE paper's
// code is [PaperEXP3P], which lacks the bonus β and with it the bound below. An arm is drawn with
//
//	p = (1−γ)·exp(η·Ĝ)/Σexp(η·Ĝ) + γ/K
//
// where K is the number of arms. When a reward x in [0, 1] comes in (what lies outside is clipped), the
// estimated gains Ĝ of all arms grow: that of the arm pulled by (x + β)/p, and that of every other one by
// β/p. The bonus β/p makes Ĝ an upper confidence bound of the arm's gain. The parameters are
//
//	η = 0.95·sqrt(ln K/(T·K)), γ = 1.05·sqrt(K·ln K/T), β = sqrt(ln(K/δ)/(T·K))
//
// With them the regret against the best single arm is at most 5.15·sqrt(T·K·ln(K/δ)) with probability 1−δ,
// whatever the rewards. γ is at most 1/2: where the formula gives more, the bound exceeds T, which any policy
// keeps to.
//
// If T is not known, it runs in epochs (the doubling trick). The first is of ⌈4.41·K·ln K⌉ outcomes, where γ
// is 1/2. Each further one is twice as long as the one before, and begins anew with the parameters of its own
// length. That costs the bound a factor of √2/(√2−1) = 3.41.
//
// The arm pulled is credited with its propensity when it was drawn ([Pull].Prob). So with pending pulls the
// estimate of its gain stays unbiased but for the bonus. The bonuses of the others follow the chances of when
// the outcome arrives, had all arms been open. While arms are closed the sum is over the open ones and γ/K
// becomes γ/(number of open arms).
//
// Sources: P. Auer, N. Cesa-Bianchi, Y. Freund, R. Schapire, "The Nonstochastic Multiarmed Bandit Problem",
// SIAM J. Comput. 32 (2002), section 6; in the form, and with the parameters, of S. Bubeck, N. Cesa-Bianchi,
// "Regret Analysis of Stochastic and Nonstochastic Multi-armed Bandit Problems" (2012), section 3.2.
type EXP3P struct {
	// T is the number of pulls of all arms in the whole run; 0 means not known: epochs. It panics at the
	// first draw if it is negative. After T pulls it goes on with the same parameters.
	T int
	// Delta is the chance δ that the regret exceeds its bound; 0 means 0.05. It panics at the first
	// draw if it is not in (0, 1]. At 1, β is that for which the expected regret is bounded.
	Delta float64

	gain    []float64
	n       float64 // outcomes in this epoch
	doubled float64 // length of this epoch over that of the first; 0 means 1
	p       []float64
}

var _ Forgetter = (*EXP3P)(nil)

// Probs fills p with (1−γ)·exp(η·Ĝ)/Σexp(η·Ĝ) + γ/K over the open arms.
func (e *EXP3P) Probs(p []float64, r Round) {
	if e.T < 0 {
		panicf("EXP3P.T is %v: need a number of pulls, or 0 for not known", e.T)
	}
	if delta := e.delta(); !(delta > 0 && delta <= 1) {
		panicf("EXP3P.Delta is %v: need a chance in (0, 1], or 0 for 0.05", e.Delta)
	}
	e.gain = grown(e.gain, len(p))
	eta, gamma, _ := e.params()
	expWeights(p, e.gain, eta, r.Open)
	mixUniform(p, r.Open, gamma)
}

func (e *EXP3P) delta() float64 { return cmp.Or(e.Delta, 0.05) }

// first returns the length of the first epoch.
func (e *EXP3P) first() float64 {
	k := float64(len(e.gain))
	return max(1, math.Ceil(4.41*k*math.Log(k)))
}

// length returns the number of pulls that the parameters are for.
func (e *EXP3P) length() float64 {
	if e.T > 0 {
		return float64(e.T)
	}
	return e.first() * max(e.doubled, 1)
}

// params returns η, γ and β. K is the number of arms, which Probs and Update are both told.
func (e *EXP3P) params() (eta, gamma, beta float64) {
	k, t := float64(len(e.gain)), e.length()
	eta = 0.95 * math.Sqrt(math.Log(k)/(t*k))
	gamma = min(0.5, 1.05*math.Sqrt(k*math.Log(k)/t))
	beta = math.Sqrt(math.Log(k/e.delta()) / (t * k))
	return eta, gamma, beta
}

// Update adds to the gains of all arms. It panics if the pull's propensity is not positive.
func (e *EXP3P) Update(pull Pull, reward float64) {
	if !(pull.Prob > 0) {
		panicf("EXP3P: Update of a pull with Prob %v: need the chance with which it was drawn", pull.Prob)
	}
	if !finite(reward) {
		return
	}
	e.gain = grown(e.gain, max(pull.Arms, pull.Arm+1))
	e.p = grown(e.p, len(e.gain))
	eta, gamma, beta := e.params()
	expWeights(e.p, e.gain, eta, nil)
	mixUniform(e.p, nil, gamma)
	for arm, q := range e.p {
		if arm != pull.Arm {
			e.gain[arm] += beta / q
		}
	}
	e.gain[pull.Arm] += (unit(reward, 0, 1) + beta) / pull.Prob
	e.n++
	if e.T == 0 && e.n >= e.length() {
		clear(e.gain)
		e.n, e.doubled = 0, 2*max(e.doubled, 1)
	}
}

// Forget discounts the estimated gains by gamma, and the number of outcomes of this epoch as well.
func (e *EXP3P) Forget(gamma float64) {
	for arm := range e.gain {
		e.gain[arm] *= gamma
	}
	e.n *= gamma
}

// String names the policy and its parameters.
func (e *EXP3P) String() string { return fmt.Sprintf("EXP3P(T=%v, delta=%v)", e.T, e.delta()) }
