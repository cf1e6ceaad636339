package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
)

// DefaultShare is the share of the calls that a pilot has where none is given.
const DefaultShare = 0.25

// Policy is a [bandit.Policy] over searches that differ in their breadth. Each of K arms first makes generations until
// it has Share·Calls/K calls, the arm with the fewest calls first. Then the surface
//
//	ln(ceiling − best) = B0 + A·ln T + B·ln N + C·ln T·ln N
//
// is fitted to the best scores that the arms had after their generations, and from there on the arm is pulled for which
// it gives the least gap with all calls that are left added to those that the arm had. The searches of the pilot go on
// where they were, so what is lost is the calls of the others. Rewards are best scores, [evolve.BestScore].
//
// One search of each breadth shows luck as much as breadth. Where the pilot decides nothing, the first arm has the
// rest: see [Advice.Fallback].
//
// It is deterministic: equal outcomes give equal draws, so a run with a journal is resumed as with any policy. With
// more than one arm in flight, draws that the pilot has no use for go to the best other arm.
type Policy struct {
	// Breadths are the children to a step of each arm, the one to fall back on first. Required: at least one, each at
	// least 1.
	Breadths []int
	// Calls is the budget of the run, C. Required.
	Calls int
	// Share is the share of Calls that the pilot has, in (0, 1); 0 means DefaultShare.
	Share float64
	// Ceiling is the score that no program passes. nil means that it is not known: it is then taken to be above the
	// best score of the pilot by its whole range of scores.
	Ceiling *float64

	arms []course // by arm
}

// course is what is known of an arm in the pilot.
type course struct {
	calls  int // so far, also after the pilot
	points []point
}

// point is the best score of an arm after so many calls.
type point struct {
	calls int
	score float64
}

var _ bandit.Policy = (*Policy)(nil)

// Probs gives mass 1 to the arm whose turn it is. It panics if a field is wrong, or if there are not as many arms as
// Breadths.
func (p *Policy) Probs(probs []float64, r bandit.Round) {
	p.begin(len(probs))
	if arm, ok := p.next(r); ok {
		probs[arm] = 1
		return
	}
	a := p.advise()
	bandit.OneHot(probs, r.Open, func(arm int) float64 { return a.rank(arm) })
}

// next returns the open arm that has the fewest calls of those that the pilot is not done with.
func (p *Policy) next(r bandit.Round) (arm int, ok bool) {
	fewest := p.pilot()
	for i, open := range r.Open {
		had := p.arms[i].calls + r.Pending[i]*p.Breadths[i]
		if open && had < fewest {
			arm, fewest, ok = i, had, true
		}
	}
	return arm, ok
}

// Update records one outcome.
func (p *Policy) Update(pull bandit.Pull, reward float64) {
	if math.IsNaN(reward) || math.IsInf(reward, 0) {
		return
	}
	p.begin(len(p.Breadths))
	c := &p.arms[pull.Arm]
	before := c.calls
	c.calls += cmp.Or(pull.Calls, p.Breadths[pull.Arm])
	if before < p.pilot() { // what comes after the pilot is not part of the advice
		c.points = append(c.points, point{c.calls, reward})
	}
}

// Advice returns what the pilot led to, and whether it is over. Afterwards it does not change.
func (p *Policy) Advice() (Advice, bool) {
	p.begin(len(p.Breadths))
	for _, c := range p.arms {
		if c.calls < p.pilot() {
			return Advice{}, false
		}
	}
	return p.advise(), true
}

// pilot returns the calls of each arm in the pilot.
func (p *Policy) pilot() int {
	return max(1, pilotOf(p.Calls, p.share(), len(p.Breadths)))
}

func (p *Policy) share() float64 { return cmp.Or(p.Share, DefaultShare) }

// begin checks the fields at the first use.
func (p *Policy) begin(arms int) {
	if p.arms != nil {
		return
	}
	switch {
	case len(p.Breadths) == 0 || slices.Min(p.Breadths) < 1:
		panic(fmt.Sprintf("advise: Policy.Breadths is %v: need at least one, each at least 1", p.Breadths))
	case arms != len(p.Breadths):
		panic(fmt.Sprintf("advise: Policy.Breadths has %d breadths for %d arms: need one for each", len(p.Breadths), arms))
	case p.Calls < 1:
		panic(fmt.Sprintf("advise: Policy.Calls is %d: need the calls of the run", p.Calls))
	case !(p.share() > 0 && p.share() < 1):
		panic(fmt.Sprintf("advise: Policy.Share is %v: need 0 for %v, or more and less than 1", p.Share, DefaultShare))
	case p.Ceiling != nil && (math.IsNaN(*p.Ceiling) || math.IsInf(*p.Ceiling, 0)):
		panic(fmt.Sprintf("advise: Policy.Ceiling is %v: need a finite score, or nil", *p.Ceiling))
	}
	p.arms = make([]course, arms)
}

// String names the policy and its parameters.
func (p *Policy) String() string {
	ceiling := "unknown"
	if p.Ceiling != nil {
		ceiling = fmt.Sprint(*p.Ceiling)
	}
	return fmt.Sprintf("Advise(N=%v, C=%d, share=%v, ceiling=%s)", p.Breadths, p.Calls, p.share(), ceiling)
}
