package population

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// A MetaGradient is a [Meta] that moves continuous settings up the gradient of their expected reward. Settings are drawn
// from a Gaussian with a mean μ and a standard deviation σ for each coordinate. The gradient with respect to μ and σ is
// estimated by the score function, from the rewards of a batch of generations, and followed by natural steps. With
// settings z = μ + σ·s for s drawn from N(0, 1), and utilities u of a batch of λ:
//
//	∇μ = Σ u·s    ∇σ = Σ u·(s² − 1)
//	μ ← μ + ημ·σ·∇μ    σ ← σ·exp(ησ/2·∇σ)
//
// Utilities go by rank, so only the order of rewards counts. With k = 1 for the best:
//
//	u(k) = max(0, ln(λ/2 + 1) − ln k)/Σⱼ max(0, ln(λ/2 + 1) − ln j) − 1/λ
//
// Equal rewards share the mean of their utilities. The paper leaves ties open, and here many generations gain nothing: a
// batch without any gain must not move μ.
//
// Coordinates are the logarithms of weights and temperature and the logit of Explore, so that all real numbers are
// settings. What is adapted is what From has above 0.
//
// Source: D. Wierstra, T. Schaul, T. Glasmachers, Y. Sun, J. Peters, J. Schmidhuber, "Natural Evolution Strategies",
// JMLR 15 (2014): separable NES (algorithm 6), utilities of section 3.1, defaults of table 1.
type MetaGradient struct {
	// From is the mean at the start. Each of its Weights, Explore and Temperature that is above 0 is adapted; its N and
	// Select stay. To begin at Config's chances, take weights of 1. Explore has to be below 1. Required.
	From Settings
	// Sigma is σ at the start, the same for all coordinates; 0 means 0.5.
	Sigma float64
	// Batch is λ, the generations between two steps; 0 means 4 + ⌊3·ln d⌋ for d coordinates. At least 2.
	Batch int
	// RateMean is ημ; 0 means 1. RateSigma is ησ; 0 means (3 + ln d)/(5·√d).
	RateMean, RateSigma float64
	// Reward says what a generation was worth; nil means [Gained]. [Still] is the placebo.
	Reward func(Trial) float64

	mean, sigma []float64 // by coordinate
	drawn       []float64 // s of the generation under way
	batch       []sample  // that have ended
	batches     int       // that were learned from
}

// A sample is a draw and its reward.
type sample struct {
	s      []float64
	reward float64
}

var _ Meta = (*MetaGradient)(nil)

// furthest is how far from 0 a coordinate counts: e^±30 is beyond all that makes a difference.
const furthest = 30

func (m *MetaGradient) check(c Config) error {
	if err := m.From.check(c); err != nil {
		return fmt.Errorf("%w (MetaGradient.From)", err)
	}
	finite := func(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
	switch {
	case len(m.start()) == 0:
		return errors.New("population: MetaGradient.From has nothing to adapt: need Weights, Explore or Temperature above 0")
	case m.From.Explore == 1:
		return errors.New("population: MetaGradient.From.Explore is 1: need a share below, as its logit is adapted")
	case !finite(m.Sigma):
		return fmt.Errorf("population: MetaGradient.Sigma is %v: need 0 for 0.5, or a finite number above", m.Sigma)
	case m.Batch < 0 || m.Batch == 1:
		return fmt.Errorf("population: MetaGradient.Batch is %d: need 0 for the default, or at least 2", m.Batch)
	case !finite(m.RateMean) || !finite(m.RateSigma):
		return fmt.Errorf("population: MetaGradient's rates are %v and %v: need 0 for the default, or finite numbers above", m.RateMean, m.RateSigma)
	}
	return nil
}

// start returns the coordinates of From.
func (m *MetaGradient) start() (z []float64) {
	for _, w := range m.From.Weights {
		if w > 0 {
			z = append(z, math.Log(w))
		}
	}
	if e := m.From.Explore; e > 0 {
		z = append(z, math.Log(e)-math.Log1p(-e))
	}
	if t := m.From.Temperature; t > 0 {
		z = append(z, math.Log(t))
	}
	return z
}

// at returns the settings at coordinates. Weights are scaled to sum to 1.
func (m *MetaGradient) at(z []float64) Settings {
	next := func() float64 {
		v := max(-furthest, min(z[0], furthest))
		z = z[1:]
		return v
	}
	s := m.From
	s.Weights = slices.Clone(s.Weights)
	sum := 0.0
	for i, w := range s.Weights {
		if w > 0 {
			s.Weights[i] = math.Exp(next())
		}
		sum += s.Weights[i]
	}
	for i := range s.Weights {
		s.Weights[i] /= sum
	}
	if s.Explore > 0 {
		s.Explore = 1 / (1 + math.Exp(-next()))
	}
	if s.Temperature > 0 {
		s.Temperature = math.Exp(next())
	}
	return s
}

// Next draws settings. Their Name says around which mean, which is the same for all of a batch, so that a ledger has a
// row for each batch.
func (m *MetaGradient) Next(r *rand.Rand) Settings {
	if m.mean == nil {
		m.mean = m.start()
		m.sigma = slices.Repeat([]float64{cmp.Or(m.Sigma, 0.5)}, len(m.mean))
	}
	m.drawn = make([]float64, len(m.mean))
	z := make([]float64, len(m.mean))
	for i := range z {
		m.drawn[i] = r.NormFloat64()
		z[i] = m.mean[i] + m.sigma[i]*m.drawn[i]
	}
	s, mean := m.at(z), m.at(m.mean)
	mean.Name = ""
	s.Name = fmt.Sprintf("batch %d around %s", m.batches+1, mean)
	return s
}

// Learn takes a natural step when a batch is complete.
func (m *MetaGradient) Learn(t Trial) error {
	r, err := reward(m.Reward, t)
	if err != nil {
		return err
	}
	m.batch = append(m.batch, sample{m.drawn, r})
	if len(m.batch) < m.size() {
		return nil
	}
	m.step(utilities(m.batch))
	m.batch = m.batch[:0]
	m.batches++
	return nil
}

// size is λ (Wierstra et al., table 1).
func (m *MetaGradient) size() int {
	return cmp.Or(m.Batch, 4+int(3*math.Log(float64(len(m.mean)))))
}

// step is that of separable NES (Wierstra et al., algorithm 6).
func (m *MetaGradient) step(u []float64) {
	d := float64(len(m.mean))
	rateMean, rateSigma := cmp.Or(m.RateMean, 1), cmp.Or(m.RateSigma, (3+math.Log(d))/(5*math.Sqrt(d)))
	for i := range m.mean {
		toMean, toSigma := 0.0, 0.0
		for k, x := range m.batch {
			toMean += u[k] * x.s[i]
			toSigma += u[k] * (x.s[i]*x.s[i] - 1)
		}
		m.mean[i] = max(-furthest, min(m.mean[i]+rateMean*m.sigma[i]*toMean, furthest))
		m.sigma[i] = max(1e-6, min(m.sigma[i]*math.Exp(rateSigma/2*toSigma), furthest))
	}
}

// utilities returns those of a batch, in its order (Wierstra et al., section 3.1).
func utilities(batch []sample) []float64 {
	n := len(batch)
	byRank, sum := make([]float64, n), 0.0
	for k := range byRank {
		byRank[k] = max(0, math.Log(float64(n)/2+1)-math.Log(float64(k+1)))
		sum += byRank[k]
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return batch[order[i]].reward > batch[order[j]].reward })
	u := make([]float64, n)
	for from := 0; from < n; {
		to, tied := from, 0.0
		for ; to < n && batch[order[to]].reward == batch[order[from]].reward; to++ {
			tied += byRank[to]
		}
		for _, i := range order[from:to] {
			u[i] = tied/sum/float64(to-from) - 1/float64(n)
		}
		from = to
	}
	return u
}

// String names what is adapted, and how.
func (m *MetaGradient) String() string {
	return fmt.Sprintf("MetaGradient(from %s, sigma=%v, batch=%d, rates=%v %v)", m.From.print(), m.Sigma, m.Batch, m.RateMean, m.RateSigma)
}
