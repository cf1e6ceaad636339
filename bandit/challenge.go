package bandit

import (
	"fmt"
	"math"
)

// The constants of Challenge, under the names of its comment.
const (
	challengeDoubt  = 0.15 // s
	challengeWindow = 0.4  // v
	challengeShare  = 64   // calls of a run for each arm
	challengePulls  = 4    // the least number of pulls of a leader before it is challenged
	challengeSilent = 256  // w
)

// Challenge lets the best search so far go on, and gives the others what its growth can spare. It is made for searches
// that improve: a reward is the best score of its arm so far. It pulls one arm for as long as that arm grows with its
// calls, as splitting a budget over such arms only loses, and tries others once it has slowed down.
//
// The leader is the arm with the best score. With n its calls, y(m) its score after m of them, J how often that rose
// and y₀ the lowest score seen,
//
//	G = y(n) − y₀, R = y(n) − y(v·n)   its gain, and how much of that is recent; v = 0.4
//	q = (R + s·ḡ)/(G + s·ḡ)            the recent share, with doubt; ḡ = G/(J + 1) and s = 0.15
//	a = ln(1 − q)/ln v                 its growth: y − y₀ rises as n^a; 0 without gain
//	φ = 1 − (1 − ε)^(1/a)              the share of all calls that the challengers may have
//
// since a leader that gets the share z of the calls ends at z^a of what it would gain with all of them: the challengers
// may cost it ε = 0.01 of its gain. A leader that grows in proportion to its calls spares 1 %. One that was silent for
// 0.6 of its calls spares 12 % after a single gain and 73 % after twenty, as few gains tell little of the next. A gain
// counts by its size. φ is 0 while the leader has made fewer than u = 32 calls or 4 pulls, and fewer than min(T/2, w)
// calls, w = 256, without a gain: some searches begin late, and one left early is seldom seen again.
//
// With t the calls so far, x those of all arms but the leader and c the calls of the leader's next pull, a challenger
// is pulled if x + c ≤ φ·(t + c), and else the leader. If fewer than T/64 arms, rounded, were started, it is the lowest
// arm without pulls. Otherwise it is the one with the least
//
//	nᵢ·√(1 + bᵢ)/(1 + aᵢ)
//
// where bᵢ is how many arms had a higher score after nᵢ calls, and aᵢ the arm's growth, at most 1. So challengers take
// turns, those that are ahead of the others at their age or still rising have more of them, and none is given up.
//
// In a run of fewer than 96 calls there is one arm, unless it cannot be pulled. While the leader's pull is pending, a
// challenger is pulled, or a new arm if no other is open. Ties go to the lowest arm, and all mass to one.
//
// Calls are those that pulls say they make ([Pull.Calls], [Round.Calls]), and one for each pull that does not. A
// pending pull counts as calls that gained nothing. Where calls of some arms cost more ([Round.Costs]), each counts as
// so many of the cheapest, so that arms are compared after the same cost; then c is the calls of the leader's next pull
// at what they cost the challenger. Rewards may be on any scale: multiplying all scores by a positive number and adding
// another changes nothing but by rounding.
//
// Source: this project. That b compares arms at equal age is the rule of L. Li et al., "A System for Massively Parallel
// Hyperparameter Tuning" (2020), without their elimination. docs/policies.md tells how it does and how it was chosen.
type Challenge struct {
	// T is the number of calls of all arms in the whole run, or of pulls if they do not say how many calls they
	// make; 0 means not known: as many are taken to come as there were, and T = 128 at least. It panics at the first
	// draw if T is negative.
	T int
	// Cautious has u = 64, ε = 0.015 and at most T/64 − 1 arms, rounded up. So older journals were begun, and go on.
	Cautious bool

	arms  []climb
	low   float64   // y₀
	heard bool      // whether low is set
	calls []float64 // scratch: by arm, with those that are pending
	costs []float64 // scratch: of a call, by arm
}

var _ Policy = (*Challenge)(nil)

// Probs gives mass 1 to the leader or to a challenger.
func (c *Challenge) Probs(p []float64, r Round) {
	if c.T < 0 {
		panicf("Challenge.T is %d: need a number of calls, or 0 if it is not known", c.T)
	}
	c.arms, c.calls, c.costs = grown(c.arms, len(p)), grown(c.calls, len(p)), grown(c.costs, len(p))
	all := 0.0
	for arm := range p {
		c.costs[arm] = r.cost(arm)
		c.calls[arm] = float64(c.arms[arm].calls+r.Pending[arm]*r.calls(arm)) * c.costs[arm]
		all += c.calls[arm]
	}
	lead := c.leader(r)
	next := c.challenger(lead, all, r)
	if lead >= 0 && r.Open[lead] && !c.spares(lead, all, float64(r.calls(lead))*c.costs[next]) {
		next = lead
	}
	p[next] = 1
}

// leader returns the arm with the best score of those that go on, -1 if none was started. Of equals it is the one with
// the most calls.
func (c *Challenge) leader(r Round) int {
	lead := -1
	for arm, open := range r.Open {
		if c.calls[arm] == 0 || !open && r.Pending[arm] == 0 {
			continue
		}
		if lead < 0 || c.score(arm) > c.score(lead) || c.score(arm) == c.score(lead) && c.calls[arm] > c.calls[lead] {
			lead = arm
		}
	}
	return lead
}

// spares reports whether the leader can spare a pull of so many calls.
func (c *Challenge) spares(lead int, all, size float64) bool {
	least, loss := 32.0, 0.010 // u, ε
	switch {
	case c.Cautious:
		least, loss = 64, 0.015
	case !(c.score(lead) > c.low):
		least = max(least, min(c.horizon(all)/2, challengeSilent))
	}
	if c.calls[lead] < least || c.arms[lead].pulls < challengePulls {
		return false
	}
	share := 1.0
	if a := c.growth(lead); a > 0 {
		share -= math.Pow(1-loss, 1/a)
	}
	return all-c.calls[lead]+size <= share*(all+size)
}

// challenger returns the arm to pull instead of the leader. That is the leader after all if no other arm is open.
func (c *Challenge) challenger(lead int, all float64, r Round) int {
	fresh, next, started, least := -1, -1, 0, math.Inf(1)
	for arm, open := range r.Open {
		switch {
		case c.calls[arm] > 0:
			started++
			if open && arm != lead && c.calls[arm]/2 < least { // its turn is at least that half
				if turn := c.turn(arm, least); turn < least {
					next, least = arm, turn
				}
			}
		case open && fresh < 0:
			fresh = arm
		}
	}
	most := math.Round(c.horizon(all) / challengeShare)
	if c.Cautious {
		most = math.Ceil(c.horizon(all)/challengeShare) - 1
	}
	leads := lead >= 0 && r.Open[lead]
	switch {
	case fresh >= 0 && (float64(started) < max(1, most) || next < 0 && !leads):
		return fresh
	case next >= 0:
		return next
	}
	return lead
}

// horizon returns T, or what is taken for it after so many calls.
func (c *Challenge) horizon(all float64) float64 {
	if c.T == 0 {
		return max(2*all, 128)
	}
	return float64(c.T)
}

// turn returns what the challengers are pulled by, the least first. It is not counted on once it is at least least, or
// the time of a decision would grow with the square of the arms.
func (c *Challenge) turn(arm int, least float64) float64 {
	age, grows, score, ahead := c.calls[arm], 1+min(c.growth(arm), 1), c.score(arm), 0
	turn := age / grows
	for other := 0; other < len(c.arms) && turn < least; other++ {
		if c.calls[other] >= age && c.score(other) > score && c.scoreAt(other, age) > score {
			ahead++
			turn = age * math.Sqrt(1+float64(ahead)) / grows
		}
	}
	return turn
}

// growth returns a. It takes halves, whose difference does not overflow.
func (c *Challenge) growth(arm int) float64 {
	y := c.score(arm) / 2
	gain := y - c.low/2
	if !(gain > 0) {
		return 0
	}
	recent := y - c.scoreAt(arm, challengeWindow*c.calls[arm])/2
	doubt := challengeDoubt / float64(c.arms[arm].jumps(0, c.low)+1)
	return math.Log1p(-(min(recent/gain, 1)+doubt)/(1+doubt)) / math.Log(challengeWindow)
}

func (c *Challenge) score(arm int) float64 {
	return c.arms[arm].score(len(c.arms[arm].rises), c.low)
}

// scoreAt returns an arm's score after so many calls of the cheapest arm.
func (c *Challenge) scoreAt(arm int, calls float64) float64 {
	own := calls // of the arm
	if cost := c.costs[arm]; cost != 1 {
		own = calls / cost * (1 + 1e-9) // a whole number of calls stays whole
	}
	return c.arms[arm].score(c.arms[arm].rose(int(own)), c.low)
}

// Update records one outcome. A reward that is not finite is ignored.
func (c *Challenge) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	c.arms = grown(c.arms, pull.Arm+1)
	if c.arms[pull.Arm].pulls == 0 && (!c.heard || reward < c.low) {
		c.low, c.heard = reward, true
	}
	c.arms[pull.Arm].add(reward, max(pull.Calls, 1))
}

// AnyScale reports that rewards may be on any scale.
func (c *Challenge) AnyScale() bool { return true }

// String names the policy and its parameters, a Cautious one as before there was a choice, for older journals.
func (c *Challenge) String() string {
	if c.Cautious {
		return fmt.Sprintf("Challenge(T=%d)", c.T)
	}
	return fmt.Sprintf("Challenge(T=%d, ε=0.01)", c.T)
}
