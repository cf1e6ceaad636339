package paper

import "math"

// counts is the number of rewards of each arm and their sum, added up in the order they came.
type counts struct {
	n   []int
	sum []float64
	t   int
}

func newCounts(arms int) counts { return counts{n: make([]int, arms), sum: make([]float64, arms)} }

func (c *counts) update(arm int, reward float64) {
	c.n[arm]++
	c.sum[arm] += reward
	c.t++
}

// argmax returns the lowest arm with the largest value; value is called for each arm in order.
func argmax(arms int, value func(arm int) float64) int {
	best, at := math.Inf(-1), 0
	for arm := range arms {
		if v := value(arm); v > best {
			best, at = v, arm
		}
	}
	return at
}

// ucb is UCB1: arms without a reward first, in order, then the largest of x̄ + √2·sqrt(ln t / n), with t
// the number of rewards of all arms.
type ucb struct{ counts }

func (u *ucb) choose() int {
	for arm, n := range u.n {
		if n == 0 {
			return arm
		}
	}
	log := logE(float64(u.t))
	return argmax(len(u.n), func(arm int) float64 {
		n := float64(u.n[arm])
		return u.sum[arm]/n + float64(math.Sqrt2*math.Sqrt(log/n))
	})
}

// thompson draws from the posterior of each arm in turn, N((μ₀ + Σx)/(1 + n), σ²/(1 + n)) with prior
// mean μ₀ = 0.5 worth one reward and σ = 0.1, and takes the largest.
type thompson struct {
	counts
	rand *Random
}

func (s *thompson) choose() int {
	return argmax(len(s.n), func(arm int) float64 {
		strength := float64(1 + s.n[arm])
		return s.rand.Normal((0.5+s.sum[arm])/strength, 0.1/math.Sqrt(strength))
	})
}

// uniform is randrange(K).
type uniform struct {
	arms int
	rand *Random
}

func (u *uniform) choose() int         { return u.rand.IntN(u.arms) }
func (u *uniform) update(int, float64) {}

// exp3p is the paper's EXP3.P: the arm at the quantile random() of p = (1−γ)·w/Σw + γ/K, and for the
// arm that was pulled w ← w·exp(η·ĝ), ĝ = g/(p + γ/2K), with g the reward clipped to [0, 1] and p that
// of the last choice. It is bandit.PaperEXP3P but for the overflow.
type exp3p struct {
	weights, probs []float64
	rand           *Random
}

const (
	eta   = 0.07
	gamma = 0.1
)

func newEXP3P(arms int, r *Random) *exp3p {
	e := &exp3p{weights: make([]float64, arms), probs: make([]float64, arms), rand: r}
	for arm := range e.weights {
		e.weights[arm] = 1
		e.probs[arm] = 1 / float64(arms)
	}
	return e
}

func (e *exp3p) choose() int {
	k := float64(len(e.weights))
	var sum float64
	for _, w := range e.weights {
		sum += w
	}
	for arm, w := range e.weights {
		e.probs[arm] = float64((1-gamma)*w/sum) + gamma/k
	}
	u, upto := e.rand.Float64(), 0.0
	for arm, p := range e.probs {
		if upto += p; u <= upto {
			return arm
		}
	}
	return len(e.probs) - 1
}

func (e *exp3p) update(arm int, reward float64) {
	k := float64(len(e.weights))
	gain := min(max(reward, 0), 1) / (e.probs[arm] + gamma/(2*k))
	e.weights[arm] *= expE(eta * gain)
}
