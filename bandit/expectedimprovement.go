package bandit

import (
	"fmt"
	"math"
	"strings"
)

// The constants of ExpectedImprovement, under the names of its comment. docs/policies.md tells how they were
// found.
const (
	eiMargin    = 0.07  // ε
	eiRoom      = 4.0   // room above the best score if no ceiling is known, in ranges seen
	eiPriorRoom = 0.5   // the same, with a prior, whose best score shows what there is to find
	eiDelay     = 0.02  // c₀/t
	eiDelayFrom = 80    // the least t in that
	eiPoolGain  = 0.28  // a₁
	eiPoolTime  = 1.3   // a₀
	eiShrink    = 0.4   // s
	eiTail      = 1.5   // k
	eiJumpGain  = 0.065 // j₁
	eiJumps     = 1.0   // j₀
	eiOpening   = 1.8   // arms started by draw t: at most ⌈eiOpening·√(t+1)⌉
	eiShortest  = 128   // the horizon that is assumed at the least if none is given
)

// ExpectedImprovement pulls the arm that is expected to raise the best score of all the most, per pull. It is
// made for searches that improve. The score of such an arm is its best so far, so it rises, with the arm's
// own pulls alone and in ever rarer jumps. Some arms stop for ever. What counts is the best score of all.
//
// For an arm with n pulls, of best score y,
//
//	z = −ln(ε + (C − y)/(C − y₀))
//
// tells how far it has come from the lowest score y₀ towards the ceiling C. On this scale, closing half of
// what is left counts as much near the top as far from it. Gains in z are taken to come at a constant rate in
// ln(n + c₀). With z' the arm's z after m = ⌊n/4⌋ pulls, z" that after ⌊n/2⌋, J the number of jumps that all
// arms made after those, and sums over all arms,
//
//	G = z − z'                       its recent gain
//	L = ln((n + c₀)/(m + c₀))        the time that took
//	ρ̄ = (ΣG + a₁)/(ΣL + a₀)          the rate of all arms together
//	ρ = (G + s·ρ̄)/(L + s)            its own rate, drawn to that of all
//	g = (Σ(z − z") + j₁)/(J + j₀)    the mean recent jump
//	μ(h) = ρ·ln(1 + h/(n + c₀))      the gain to expect of h more pulls
//
// and the index of the arm is
//
//	max over h of μ(h)/h · (1 + (z* − z)/(k·(μ(h) + g)))^(−k),  h = 1, 2, 4, ..., T − t
//
// where z* is the best arm's z, T the horizon and t the draws so far. The power is the chance to come up to
// the best arm: the tail of a Pareto law of scale μ + g, since searches rise in jumps of very different size.
// An exponential in its place, which is k = ∞, would leave arms that are far behind too soon where one jump
// may decide.
//
// At most ⌈1.8·√(t+1)⌉ arms are ever started. Whenever one more may be, one arm without pulls competes by its
// index, with n = 0, G = L = 0 and z = z₀. So the number of arms hardly matters: of a hundred searches only
// as many are begun as the budget allows. When none of the started arms is open, another one is started in
// any case. Ties go to the lowest arm. The policy is deterministic: all its mass is on one arm.
//
// The constants are ε = 0.07, c₀ = max(t, 80)/50, a₁ = 0.28, a₀ = 1.3, s = 0.4, k = 1.5, j₁ = 0.065 and j₀ =
// 1.
//
// Rewards are the best score of the arm so far, on any scale; one below an earlier one of the same arm counts
// as that one. Multiplying all scores, and the ceiling, by a positive number and adding another changes
// nothing. y₀ is the lowest reward of all, which is what searches start from once one of them has made a pull
// without improving.
//
// A pending pull counts as a pull that gained nothing: in n, but in neither m nor ⌊n/2⌋. That makes its arm
// less attractive, so several draws in a row spread over the arms. The outcome takes the place of the guess
// when it is in.
//
// Source: this project. The transform, the rate and the index come from a study of simulated searches. The
// rule of looking several pulls ahead and dividing by their number is that of Gittins' index. The expected
// improvement over the best so far is that of J. Mockus, "On Bayesian methods for seeking the extremum"
// (1974).
type ExpectedImprovement struct {
	// T is the number of pulls of all arms in the whole run; 0 means not known: as many pulls are taken to
	// come as there were, T = 2t, or T = 128 if that is more. Beyond the horizon each draw is taken for the
	// last. It panics at the first draw if T is negative.
	T int
	// Ceiling is the score C that cannot be exceeded, or the best one known. 0 means not known: it is then
	// taken to be above the best score seen by 4 times the range of the scores seen. So it is, too, once a
	// score exceeds the Ceiling. For a ceiling of zero give a tiny value. It panics at the first draw if
	// Ceiling is not finite.
	Ceiling float64
	// Costs is what a pull of each arm is expected to cost, in FLOPs or any other unit. The index is divided
	// by it, so the gain per unit is what counts, and of the arms without pulls the cheapest comes first. nil
	// means that all cost the same. It panics at the first draw if an arm has no cost or one that is not
	// positive and finite.
	Costs []float64
	// Prior is what earlier runs of the same task show of its searches: see [FitPrior]. nil means nothing.
	// Its scores then count as seen for y₀ and the best score, and a ceiling that is not known is taken to be
	// above the best by half of the range.
	Prior *Prior

	arms      []climb
	low, best float64 // of all rewards
	seen      bool    // whether there are any
	views     []view  // scratch
	futures   futures
}

var _ Policy = (*ExpectedImprovement)(nil)

// Probs gives mass 1 to the arm with the largest index.
func (e *ExpectedImprovement) Probs(p []float64, r Round) {
	e.validate(len(p))
	e.arms, e.views = grown(e.arms, len(p)), grown(e.views, len(p))
	w := e.survey(r)
	OneHot(p, r.Open, func(arm int) float64 { return e.index(arm, w) })
}

// Update records one outcome.
func (e *ExpectedImprovement) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	e.arms = grown(e.arms, pull.Arm+1)
	if !e.seen {
		e.low, e.best, e.seen = reward, reward, true
	}
	if e.arms[pull.Arm].pulls == 0 { // later rewards of the arm count as no lower than its first
		e.low = min(e.low, reward)
	}
	e.best = max(e.best, reward)
	e.arms[pull.Arm].add(reward)
}

// String names the policy and its parameters.
func (e *ExpectedImprovement) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ExpectedImprovement(T=%d, ceiling=%v", e.T, e.Ceiling)
	if e.Costs != nil {
		fmt.Fprintf(&b, ", costs=%v", e.Costs)
	}
	if e.Prior != nil {
		fmt.Fprintf(&b, ", prior=%v", e.Prior)
	}
	b.WriteString(")")
	return b.String()
}

func (e *ExpectedImprovement) validate(arms int) {
	if e.T < 0 {
		panicf("ExpectedImprovement.T is %d: need a number of pulls, or 0 if it is not known", e.T)
	}
	if !finite(e.Ceiling) {
		panicf("ExpectedImprovement.Ceiling is %v: need a finite number, or 0 if it is not known", e.Ceiling)
	}
	if e.Costs != nil && len(e.Costs) < arms {
		panicf("ExpectedImprovement.Costs has %d entries for %d arms", len(e.Costs), arms)
	}
	for arm, c := range e.Costs {
		if !(c > 0 && finite(c)) {
			panicf("ExpectedImprovement.Costs[%d] is %v: need a positive finite number", arm, c)
		}
	}
}

// A view is what a draw sees of one arm.
type view struct {
	n, z, gain, time float64 // n, z, G and L of the arm
	jumped, jumps    float64 // z − z" and the jumps it took
}

// A survey is what a draw sees of all arms together.
type survey struct {
	rate, jump, best float64 // ρ̄, g and z*
	delay, left      float64 // c₀ and T − t
	scale            scale
	fresh            int // the arm without pulls that may be pulled; -1 means none
}

func (e *ExpectedImprovement) survey(r Round) survey {
	horizon := e.T
	if horizon == 0 {
		horizon = max(2*r.T, eiShortest)
	}
	w := survey{
		delay: eiDelay * float64(max(r.T, eiDelayFrom)),
		left:  float64(max(horizon-r.T, 1)),
		scale: e.scale(),
		best:  math.Inf(-1),
		fresh: e.fresh(r),
	}
	if e.Prior != nil {
		e.futures.on(e.Prior, w.scale)
	}
	var gain, time, jumped, jumps float64
	for arm := range r.Open {
		v := e.view(arm, r.Pending[arm], w.scale, w.delay)
		e.views[arm] = v
		gain += v.gain
		time += v.time
		jumped += v.jumped
		jumps += v.jumps
		w.best = max(w.best, v.z)
	}
	w.rate = (gain + eiPoolGain) / (time + eiPoolTime)
	w.jump = (jumped + eiJumpGain) / (jumps + eiJumps)
	return w
}

// view looks at an arm. Its pending pulls are taken for pulls that gained nothing.
func (e *ExpectedImprovement) view(arm, pending int, s scale, delay float64) view {
	c := &e.arms[arm]
	n := c.pulls + pending
	m := c.pulls / 4
	recent, last := c.rose(c.pulls/2), len(c.rises)
	v := view{n: float64(n), z: s.z(c.score(last, s.low)), jumps: float64(c.jumps(recent, s.low))}
	v.gain = v.z - s.z(c.score(c.rose(m), s.low))
	v.jumped = v.z - s.z(c.score(recent, s.low))
	v.time = math.Log((v.n + delay) / (float64(m) + delay))
	return v
}

// fresh returns the arm that may be started, or -1. It is the cheapest one, and of those the lowest.
func (e *ExpectedImprovement) fresh(r Round) int {
	fresh, started, ready := -1, 0, false
	for arm, open := range r.Open {
		switch {
		case e.arms[arm].pulls+r.Pending[arm] > 0:
			started++
			ready = ready || open
		case open && (fresh < 0 || e.cost(arm) < e.cost(fresh)):
			fresh = arm
		}
	}
	if ready && float64(started) >= math.Ceil(eiOpening*math.Sqrt(float64(r.T+1))) {
		return -1
	}
	return fresh
}

func (e *ExpectedImprovement) cost(arm int) float64 {
	if e.Costs == nil {
		return 1
	}
	return e.Costs[arm]
}

// index returns the logarithm of an arm's index. The index itself could underflow.
func (e *ExpectedImprovement) index(arm int, w survey) float64 {
	v := &e.views[arm]
	if v.n == 0 && arm != w.fresh {
		return math.Inf(-1)
	}
	if e.Prior != nil {
		e.futures.liken(int(v.n), e.past(arm, int(v.n), w.scale))
	}
	rate := (v.gain + eiShrink*w.rate) / (v.time + eiShrink)
	best, gap := math.Inf(-1), w.best-v.z
	for h := 1.0; ; h *= 2 {
		h = min(h, w.left)
		gain := rate * math.Log1p(h/(v.n+w.delay))
		improvement := math.Log(gain) - eiTail*math.Log1p(gap/(eiTail*(gain+w.jump)))
		if e.Prior != nil {
			improvement = math.Log(e.futures.expect(int(v.n), int(h), gap, math.Exp(improvement)))
		}
		best = max(best, improvement-math.Log(h))
		if h == w.left {
			return best - math.Log(e.cost(arm))
		}
	}
}

// past returns the z of an arm after n, ⌊n/2⌋ and ⌊n/4⌋ pulls.
func (e *ExpectedImprovement) past(arm, n int, s scale) (z [3]float64) {
	c := &e.arms[arm]
	for i := range z {
		z[i] = s.z(c.score(c.rose(n>>i), s.low))
	}
	return z
}

// scale returns the transform of scores to z.
func (e *ExpectedImprovement) scale() scale {
	s := scale{low: e.low, top: e.best, share: 1 / (1 + eiRoom)}
	if p := e.Prior; p != nil {
		s = scale{low: p.low, top: p.best, share: 1 / (1 + eiPriorRoom)}
		if e.seen {
			s.low, s.top = min(e.low, p.low), max(e.best, p.best)
		}
	}
	if e.Ceiling != 0 && s.top <= e.Ceiling {
		s.top, s.share = e.Ceiling, 1
	}
	return s
}

// A scale turns scores into z. It knows the ceiling by top: going from low to top is going the given share of
// the way to the ceiling.
type scale struct{ low, top, share float64 }

func (s scale) z(y float64) float64 {
	// In halves, as the difference of two large numbers can overflow where the halves do not.
	span, way := s.top/2-s.low/2, y/2-s.low/2
	if !(span > 0) {
		return -math.Log(eiMargin + 1)
	}
	return -math.Log(eiMargin + 1 - s.share*(way/span))
}
