package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
)

// DefaultShare is the share of the calls that a pilot has where none is given. It was chosen among 0.1, 0.25 and 0.5; see
// docs/advise.md.
const DefaultShare = 0.1

// Policy is a [bandit.Policy] over searches that differ in their breadth. Each of K arms first gets Share·Calls/K calls,
// and one pull at least; of those that lack some, the one with the fewest is next, and ties go to the lowest arm. Then
// the surface of [analysis.Surface]
//
//	ln(ceiling − best) = B0 + A·ln T + B·ln N + C·ln T·ln N
//
// is fitted to what the arms had come to after T = 1, 2, 4, ... of their pulls. N is the calls of a pull. From then on
// the arm is pulled for which the surface has the least gap at the end, if all calls that are left are its own. The
// search goes on from where it was, so the calls of the pilot that are lost are those of the other arms.
//
// One search a breadth shows its luck as much as its breadth. With several arms of the same breadth the surface is fitted
// to their mean, and the first of them goes on. Where nothing can be fitted, the arm with the best score goes on, and
// [Advice.Fallback] says why.
//
// Rewards are best scores on any scale, as [evolve.BestScore] returns them. It is deterministic, so a run with a journal
// is resumed as with any policy. It is made for one arm in flight: with more, draws that the pilot or the advice has no
// use for go to the next best arm that is open.
type Policy struct {
	// Calls is the budget of the whole run. It panics at the first draw if it is below 1.
	Calls int
	// Share is the share of Calls that the pilot has; 0 means DefaultShare. It panics at the first draw unless it is
	// above 0 and below 1.
	Share float64
	// Ceiling is the score that no program passes. nil means that it is not known: it is then taken to be above the best
	// score of the pilot by the range of the pilot's scores. It panics at the first draw if it is not finite.
	Ceiling *float64

	arms []course
	made *Advice // once the pilot is over
}

// A course is what is known of an arm.
type course struct {
	calls  int
	points []point // after each of its pulls in the pilot
}

// A point is how many calls an arm had, and what it had come to.
type point struct {
	calls int
	score float64
}

var _ bandit.Policy = (*Policy)(nil)

// Probs gives mass 1 to the arm whose turn it is.
func (p *Policy) Probs(probs []float64, r bandit.Round) {
	p.check()
	p.grow(len(probs))
	if arm, ok := p.next(r); ok {
		probs[arm] = 1
		return
	}
	a := p.current()
	bandit.OneHot(probs, r.Open, func(arm int) float64 { return -a.gaps[arm] })
}

// next returns the open arm with the fewest calls of those that the pilot is not done with.
func (p *Policy) next(r bandit.Round) (arm int, ok bool) {
	fewest := p.pilot()
	for i, open := range r.Open {
		had := p.arms[i].calls
		if r.Calls != nil {
			had += r.Pending[i] * max(1, r.Calls[i])
		} else {
			had += r.Pending[i]
		}
		if open && had < fewest {
			arm, fewest, ok = i, had, true
		}
	}
	return arm, ok
}

// current returns the advice, or what it would be by now if some arm is closed or pending so that the pilot cannot end.
func (p *Policy) current() Advice {
	if p.made != nil {
		return *p.made
	}
	return p.advise()
}

// Update records one outcome.
func (p *Policy) Update(pull bandit.Pull, reward float64) {
	if math.IsNaN(reward) || math.IsInf(reward, 0) {
		return
	}
	p.check()
	p.grow(max(pull.Arms, pull.Arm+1))
	c := &p.arms[pull.Arm]
	inPilot := c.calls < p.pilot()
	c.calls += max(1, pull.Calls)
	if inPilot { // what comes later would change the advice
		c.points = append(c.points, point{c.calls, reward})
	}
	over := !slices.ContainsFunc(p.arms, func(c course) bool { return c.calls < p.pilot() })
	if over && p.made == nil {
		a := p.advise()
		p.made = &a
	}
}

// Advice returns what the pilot led to, and whether it is over. It does not change after that.
func (p *Policy) Advice() (a Advice, over bool) {
	if p.made == nil {
		return Advice{}, false
	}
	return *p.made, true
}

// grow makes room for as many arms. A pull made by hand does not say how many there are.
func (p *Policy) grow(arms int) {
	if arms > len(p.arms) {
		p.arms = append(p.arms, make([]course, arms-len(p.arms))...)
		p.made = nil
	}
}

// pilot returns how many calls each arm has in the pilot.
func (p *Policy) pilot() int { return max(1, pilotOf(p.Calls, p.Share, len(p.arms))) }

func (p *Policy) share() float64 { return cmp.Or(p.Share, DefaultShare) }

func (p *Policy) check() {
	switch {
	case p.Calls < 1:
		panic(fmt.Sprintf("advise: Policy.Calls is %d: need the calls of the whole run", p.Calls))
	case !(p.share() > 0 && p.share() < 1):
		panic(fmt.Sprintf("advise: Policy.Share is %v: need more than 0 and less than 1, or 0 for %v", p.Share, DefaultShare))
	case p.Ceiling != nil && !finite(*p.Ceiling):
		panic(fmt.Sprintf("advise: Policy.Ceiling is %v: need a finite score, or nil if it is not known", *p.Ceiling))
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// String names the policy and its parameters.
func (p *Policy) String() string {
	ceiling := "unknown"
	if p.Ceiling != nil {
		ceiling = fmt.Sprint(*p.Ceiling)
	}
	return fmt.Sprintf("Advise(C=%d, share=%v, ceiling=%s)", p.Calls, p.share(), ceiling)
}
