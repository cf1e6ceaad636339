package bandit

import (
	"fmt"
	"math"
	"slices"
)

// The constants of ExpectedImprovement, under the names of its comment. docs/measurements/2026-11-25-policies.md tells
// how they were found.
const (
	eiMargin    = 0.07  // ε
	eiRoom      = 4.0   // of the ceiling above the best score, in ranges seen
	eiDelay     = 0.02  // c₀/t
	eiDelayFrom = 80    // the least t in that, in pulls of mean size
	eiPoolGain  = 0.28  // a₁
	eiPoolTime  = 1.3   // a₀
	eiShrink    = 0.4   // s
	eiSpread    = 0.6   // κ
	eiJumpGain  = 0.065 // j₁
	eiJumps     = 1.0   // j₀
	eiDead      = 0.5   // δ
	eiLife      = 0.1   // the least factor of the rate of an arm that is silent
	eiOpening   = 1.8   // arms started by draw d: at most ⌈β·√(d+1)⌉, with β at most this
	eiOpenPulls = 23    // pulls of a run for each 1 of β
	eiShortest  = 128   // the horizon that is assumed at the least if none is given, in pulls of mean size
)

// ExpectedImprovement pulls the arm that is expected to raise the best score of all the most, per call. It is
// made for searches that improve. The score of such an arm is its best so far, so it rises, with the arm's
// own pulls alone and in ever rarer jumps. Some arms stop for ever. What counts is the best score of all.
//
// For an arm with n calls, of best score y,
//
//	z = −ln(ε + (C − y)/(C − y₀))
//
// tells how far it has come from the lowest score y₀ towards C, a ceiling that is taken to be above the best score seen
// by 4 times the range of the scores seen. On this scale, closing half of what is left counts as much near the top as
// far from it. Gains in z are taken to come at a constant rate in ln(n + c₀). With p the arm's pulls, z' its z after
// the m calls of the first ⌊p/4⌋ of them, z" that after those of the first ⌊p/2⌋, J" the number of jumps that all arms
// made after those, and sums over all arms,
//
//	G = z − z'                       its recent gain
//	L = ln((n + c₀)/(m + c₀))        the time that took
//	ρ̄ = (ΣG + a₁)/(ΣL + a₀)          the rate of all arms together
//	ρ = w·(G + s·ρ̄)/(L + s)          its own rate, drawn to that of all
//	g = (Σ(z − z") + j₁)/(J" + j₀)   the mean recent jump
//	μ(h) = ρ·ln(1 + h/(n + c₀))      the gain to expect of h more calls
//
// An arm that stopped for ever looks at first like one that rests. With a the calls after which it last rose, 0
// if it never did, and J the number of its jumps,
//
//	A = ln((a + c₀)/c₀), S = ln((n + c₀)/(a + c₀))   the time of its jumps, and that of its silence
//	λ̄ = (ΣJ + 1)/(ΣA + 1)                            the jumps of all arms in a unit of time
//	q = (1 + S/(A + 1))^−(J + λ̄)                     the chance of so long a silence if it goes on
//	w = max(0.1, q/((1 − δ)·q + δ))                  how likely it goes on, 1 without silence
//
// where δ is the share of arms that have stopped, beforehand, and q is that of a Poisson process whose rate has a
// gamma prior. The index of the arm is
//
//	max over h of E(h)/h,  h = c, 2c, 4c, ..., T − t
//	E(h) = ½·(d + √(d² + 4κ²·μ·(μ + g)·D/(D + μ + g))),  D = z* − z and d = μ(h) − D
//
// where z* is the best arm's z, T the horizon, t the calls so far, and c those of the arm's next pull. E(h) is the
// expected improvement of the best score by h more calls of the arm. For the best arm itself it is μ(h). Of an arm
// that would come up to the best one it is κ·μ/√2 or more, and of one far behind κ²·μ·(μ + g)/D: the tail of
// Student's law with two degrees of freedom, since searches rise in jumps of very different size. A normal one
// would leave arms that are far behind too soon where one jump may decide.
//
// At most ⌈β·√(d + 1)⌉ arms are started by draw d, from 0, with β = min(1.8, P/23) and P = d + (T − t)/c the
// draws of the whole run if those to come are as large as that of the arm to start. Whenever one more may be, one arm
// without pulls competes by its index, with n = 0, G = L = 0 and z that of y₀. So the number of arms hardly matters: of
// a hundred searches only as many are begun as the budget allows, and in a run of eight pulls one. When none
// of the started arms is open, another one is started in any case. Ties go to the lowest arm. The policy is
// deterministic: all its mass is on one arm.
//
// The constants are ε = 0.07, c₀ = max(t, 80·u)/50 with u the mean size of the pulls so far, a₁ = 0.28, a₀ = 1.3,
// s = 0.4, κ = 0.6, j₁ = 0.065, j₀ = 1 and δ = 0.5.
//
// Calls are those that pulls say they make ([Pull.Calls], [Round.Calls]), and one for each pull that does not. So
// pulls may differ in size, and if all are of one size it does not matter which, as long as T grows with it. The score
// of a pull is known when all of its calls have ended, so the calls of an arm's first pulls are taken from their mean:
// those of its first ⌊p/4⌋ are ⌊(n/p)·⌊p/4⌋⌋.
//
// Where calls of some arms cost more ([Round.Costs]), each counts as so many of the cheapest, in n, m, a, t, u, c and
// h: two arms are compared after the same cost, and the index is the gain for what it costs. Of the arms without pulls
// the one with the cheapest calls comes first.
//
// Rewards are the best score of the arm so far, on any scale; one below an earlier one of the same arm counts
// as that one. Multiplying all scores by a positive number and adding another changes nothing. y₀ is the lowest reward
// of all, which is what searches start from once one of them has made a pull without improving.
//
// A pending pull counts as calls that gained nothing: in n, but not in p. That makes its arm
// less attractive, so several draws in a row spread over the arms. The outcome takes the place of the guess
// when it is in. A canceled pull counts in t alone, as one of mean size.
//
// Source: this project. The transform, the rate and the index come from a study of simulated searches. The
// rule of looking several pulls ahead and dividing by their number is that of Gittins' index. The expected
// improvement over the best so far is that of J. Mockus, "On Bayesian methods for seeking the extremum"
// (1974).
type ExpectedImprovement struct {
	// T is the number of calls of all arms in the whole run, or of pulls if they do not say how many calls they
	// make; 0 means not known: as many calls are taken to come as there were, T = 2t, or T = 128·u if that is
	// more. Beyond the horizon each draw is taken for the last. Where arms cost unlike ([Round].Costs) it is in calls of
	// the cheapest. It panics at the first draw if T is negative.
	T int

	arms      []climb
	low, best float64 // of all rewards
	outcomes  int     // how many there are
	views     []view  // scratch
}

var _ Policy = (*ExpectedImprovement)(nil)

// Probs gives mass 1 to the arm with the largest index.
func (e *ExpectedImprovement) Probs(p []float64, r Round) {
	if e.T < 0 {
		panicf("ExpectedImprovement.T is %d: need a number of calls, or 0 if it is not known", e.T)
	}
	e.arms, e.views = grown(e.arms, len(p)), grown(e.views, len(p))
	w := e.survey(r)
	OneHot(p, r.Open, func(arm int) float64 { return e.index(arm, w, r.size(arm)) })
}

// Update records one outcome. A reward that is not finite is ignored.
func (e *ExpectedImprovement) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	e.arms = grown(e.arms, pull.Arm+1)
	if e.outcomes == 0 {
		e.low, e.best = reward, reward
	}
	if e.arms[pull.Arm].calls == 0 { // later rewards of the arm count as no lower than its first
		e.low = min(e.low, reward)
	}
	e.best = max(e.best, reward)
	e.outcomes++
	e.arms[pull.Arm].add(reward, max(pull.Calls, 1))
}

// AnyScale reports that rewards may be on any scale.
func (e *ExpectedImprovement) AnyScale() bool { return true }

// String names the policy and its parameters.
func (e *ExpectedImprovement) String() string { return fmt.Sprintf("ExpectedImprovement(T=%d)", e.T) }

// A view is what a draw sees of one arm.
type view struct {
	n, z, gain, time      float64 // n, z, G and L of the arm
	recentGain, recent    float64 // z − z" and the jumps it took
	jumps, active, silent float64 // J, A and S
}

// A survey is what a draw sees of all arms together.
type survey struct {
	rate, jump, best float64 // ρ̄, g and z*
	jumping          float64 // λ̄
	delay, left      float64 // c₀ and T − t
	scale            scale
	fresh            int // the arm without pulls that may be pulled; -1 means none
}

func (e *ExpectedImprovement) survey(r Round) survey {
	spent, mean := e.spent(r)
	horizon := float64(e.T)
	if e.T == 0 {
		horizon = max(2*spent, eiShortest*mean)
	}
	w := survey{
		delay: eiDelay * max(spent, eiDelayFrom*mean),
		left:  horizon - spent,
		scale: scale{e.low, e.best},
		best:  math.Inf(-1),
	}
	w.fresh = e.fresh(r, w.left)
	var all view
	for arm := range r.Open {
		v := e.view(arm, r, w.scale, w.delay)
		e.views[arm] = v
		all.gain += v.gain
		all.time += v.time
		all.recentGain += v.recentGain
		all.recent += v.recent
		all.jumps += v.jumps
		all.active += v.active
		w.best = max(w.best, v.z)
	}
	w.rate = (all.gain + eiPoolGain) / (all.time + eiPoolTime)
	w.jump = (all.recentGain + eiJumpGain) / (all.recent + eiJumps)
	w.jumping = (all.jumps + 1) / (all.active + 1)
	return w
}

// spent returns t, the calls so far with those that are pending, and u, the mean size of a pull.
func (e *ExpectedImprovement) spent(r Round) (calls, mean float64) {
	pulls := e.outcomes
	for arm, n := range r.Pending {
		pulls += n
		calls += float64(e.arms[arm].calls)*r.cost(arm) + float64(n)*r.size(arm)
	}
	if pulls == 0 {
		mean = r.size(slices.Index(r.Open, true))
	} else {
		mean = calls / float64(pulls)
	}
	return calls + mean*float64(max(r.T-pulls, 0)), mean
}

// view looks at an arm. Its pending calls are taken for calls that gained nothing.
func (e *ExpectedImprovement) view(arm int, r Round, s scale, delay float64) view {
	c, cost := &e.arms[arm], r.cost(arm)
	n, m := c.calls+r.Pending[arm]*r.calls(arm), c.within(4)
	recent, last := c.rose(c.within(2)), len(c.rises)
	v := view{n: float64(n) * cost, z: s.z(c.score(last, s.low)), recent: float64(c.jumps(recent, s.low)),
		jumps: float64(c.jumps(0, s.low))}
	v.gain = v.z - s.z(c.score(c.rose(m), s.low))
	v.recentGain = v.z - s.z(c.score(recent, s.low))
	v.time = math.Log((v.n + delay) / (float64(m)*cost + delay))
	rose := 0.0
	if v.jumps > 0 {
		rose = float64(c.rises[last-1].calls) * cost
	}
	v.active = math.Log1p(rose / delay)
	v.silent = math.Log((v.n + delay) / (rose + delay))
	return v
}

// alive returns w, by which the silence of an arm takes from its rate.
func (v *view) alive(jumping float64) float64 {
	if v.n == 0 {
		return 1
	}
	q := math.Pow(1+v.silent/(v.active+1), -(v.jumps + jumping))
	return max(eiLife, q/((1-eiDead)*q+eiDead))
}

// fresh returns the arm that may be started, or -1. It is the cheapest one, and of those the lowest.
func (e *ExpectedImprovement) fresh(r Round, left float64) int {
	fresh, started, ready := -1, 0, false
	for arm, open := range r.Open {
		switch {
		case e.arms[arm].calls+r.Pending[arm] > 0:
			started++
			ready = ready || open
		case open && (fresh < 0 || r.cost(arm) < r.cost(fresh)):
			fresh = arm
		}
	}
	if !ready || fresh < 0 {
		return fresh
	}
	size := r.size(fresh)
	pulls := float64(r.T) + max(left, size)/size
	opening := min(eiOpening, pulls/eiOpenPulls)
	if float64(started) >= math.Ceil(opening*math.Sqrt(float64(r.T+1))) {
		return -1
	}
	return fresh
}

// index returns an arm's index, given what its next pull costs.
func (e *ExpectedImprovement) index(arm int, w survey, size float64) float64 {
	v := &e.views[arm]
	if v.n == 0 && arm != w.fresh {
		return math.Inf(-1)
	}
	rate := v.alive(w.jumping) * (v.gain + eiShrink*w.rate) / (v.time + eiShrink)
	best, behind, left := 0.0, w.best-v.z, max(w.left, size)
	for h := size; ; h *= 2 {
		h = min(h, left)
		improvement := expectedExcess(rate*math.Log1p(h/(v.n+w.delay)), w.jump, behind)
		best = max(best, improvement/h)
		if h == left {
			return best
		}
	}
}

// expectedExcess returns E(h): what to expect of a gain of mean gain above what the arm is behind.
func expectedExcess(gain, jump, behind float64) float64 {
	d := gain - behind
	spread := 4 * eiSpread * eiSpread * gain * (gain + jump) * behind / (behind + gain + jump)
	root := math.Sqrt(d*d + spread)
	if d < 0 {
		return spread / 2 / (root - d) // ½·(d + root), without the difference of two near numbers
	}
	return (d + root) / 2
}

// A scale turns scores into z, given the lowest score seen and the best, top.
type scale struct{ low, top float64 }

func (s scale) z(y float64) float64 {
	span, way := s.top/2-s.low/2, y/2-s.low/2
	if !(span > 0) {
		return -math.Log(eiMargin + 1)
	}
	return -math.Log(eiMargin + 1 - 1/(1+eiRoom)*(way/span))
}
