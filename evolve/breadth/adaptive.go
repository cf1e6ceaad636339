// Package breadth decides how many children each step of a search makes. docs/policies.md says when that pays.
package breadth

import (
	"cmp"
	"fmt"
	"math"
	"sort"

	"github.com/evoalloc/evoalloc/evolve"
)

// Adaptive makes as many children as bring the most for what they cost, in calls and in time. It estimates from
// the search's own history how likely a child is better, and how long a step takes.
//
// Let p be the chance that a child is better than its parent, and τ(n) the seconds that a step of n children
// takes. A step of n children of one parent brings a gain with the chance
//
//	g(n) = 1 - (1-p)ⁿ
//
// and costs n calls and τ(n) seconds. With Second calls to a second, the gain for what it costs is
//
//	r(n) = g(n) / (n + Second·τ(n))
//
// which rises to one peak and falls after it. Without a value of time the peak is at n = 1, always. But r falls
// slowly there, and a wider step ends sooner. So Adaptive takes the largest n in Min..Max whose r(n) is at least
// (1-Waste) times that of the peak. Without a value of time and with the default Waste that is about ½ + 0.76/p:
// with gains in every tenth child, 8 children.
//
// The estimates come from the recent half of the children, because gains become rare as a search goes on:
//
//	p = (s + ½) / (m + 1)
//
// for s better ones among m. A new search thus begins with p = ½, which makes 2 children by default. τ(n) = a +
// b·n with a and b at least 0, by least squares over all steps that are read, because it takes steps of several
// widths to tell a from b, and time changes less than p. As long as all of them had one width, b is 0: a wider
// step is taken to cost no more time, until one has shown what it costs.
//
// What the model leaves out:
//
//   - How large a gain is. A step of many children keeps the best of them, which is worth more than a gain.
//   - That p falls when a gain is found, as the new parent is harder to beat. Then p is too high until the window
//     has moved on, and the next steps are too narrow. After the end of a plateau it is the other way round.
//   - That time grows in stairs, where fewer calls are in flight at once than a step has children, and that the
//     slowest of many answers is later than that of few. The line is the best one through both.
//   - With evolve.GreedyConfig.Window the parent may change within a step. Then children after the first better one
//     are not wasted, and wide steps cost nothing: leave the Breadth out there.
type Adaptive struct {
	// Second is what a second of wall time is worth, in model calls; 0 means nothing. With 5, a step that takes
	// four seconds costs 20 calls more than it has children.
	Second float64
	// Waste is the share of the gain for what it costs that is given up for fewer and wider steps, less than 1. 0
	// means 0.3, and negative none.
	Waste float64
	Min   int // least number of children; 0 means 1
	Max   int // largest number of children, at most evolve.MaxN; 0 means evolve.DefaultN, or Min if that is more
}

// The constants of [Adaptive].
const (
	adaptiveWaste = 0.3 // Waste where none is given

	// The prior of p: as if so many children had been seen and so many of them had been better. It is worth one
	// child, so that a search without a gain comes to wide steps as fast as one that doubles.
	adaptivePriorBetter   = 0.5
	adaptivePriorChildren = 1

	// Only the adaptiveHistory newest steps are read. For p it is those of them that hold adaptiveRecent of their
	// children, and no more than adaptiveSteps. The bounds keep a decision short in a search of 100,000 steps.
	adaptiveRecent  = 0.5
	adaptiveSteps   = 200
	adaptiveHistory = 400
)

var _ evolve.Breadth = Adaptive{}

func (a Adaptive) withDefaults() Adaptive {
	a.Waste = max(0, cmp.Or(a.Waste, adaptiveWaste))
	a.Min = cmp.Or(a.Min, 1)
	a.Max = cmp.Or(a.Max, max(evolve.DefaultN, a.Min))
	return a
}

// Validate reports a field that is wrong.
func (a Adaptive) Validate() error {
	a = a.withDefaults()
	switch {
	case !(a.Second >= 0) || math.IsInf(a.Second, 0):
		return fmt.Errorf("breadth: Adaptive.Second is %v: need 0, or the calls that a second is worth", a.Second)
	case !(a.Waste < 1):
		return fmt.Errorf("breadth: Adaptive.Waste is %v: need 0 for %v, or less than 1", a.Waste, adaptiveWaste)
	case a.Min < 1 || a.Min > evolve.MaxN:
		return fmt.Errorf("breadth: Adaptive.Min is %d: need 0 for 1 child, or at most %d", a.Min, evolve.MaxN)
	case a.Max < a.Min || a.Max > evolve.MaxN:
		return fmt.Errorf("breadth: Adaptive.Max is %d: need 0 for the default, or at least Min, %d, and at most %d",
			a.Max, a.Min, evolve.MaxN)
	}
	return nil
}

// Children returns the number of children for the step after past.
func (a Adaptive) Children(past []evolve.Made) int {
	a = a.withDefaults()
	past = past[max(0, len(past)-adaptiveHistory):]
	p, took := chanceOfGain(recentHalf(past)), stepTime(past)
	rate := func(n int) float64 {
		return gainOf(p, n) / (float64(n) + a.Second*took.of(n))
	}
	// r rises to its peak and falls after it, so both are found by halving.
	peak := a.Min + sort.Search(a.Max-a.Min, func(i int) bool { return rate(a.Min+i+1) <= rate(a.Min+i) })
	enough := (1 - a.Waste) * rate(peak)
	return peak + sort.Search(a.Max-peak, func(i int) bool { return rate(peak+i+1) < enough })
}

// String returns "Adaptive(second=0, waste=0.3, 1..64)" with the numbers in force.
func (a Adaptive) String() string {
	a = a.withDefaults()
	return fmt.Sprintf("Adaptive(second=%v, waste=%v, %d..%d)", a.Second, a.Waste, a.Min, a.Max)
}

// recentHalf returns the newest steps that hold half of the children, and no more than adaptiveSteps.
func recentHalf(past []evolve.Made) []evolve.Made {
	all := 0
	for _, m := range past {
		all += m.Children
	}
	first, held := len(past), 0
	for first > 0 && len(past)-first < adaptiveSteps && float64(held) < adaptiveRecent*float64(all) {
		first--
		held += past[first].Children
	}
	return past[first:]
}

// chanceOfGain returns the posterior mean of p after these steps.
func chanceOfGain(steps []evolve.Made) float64 {
	better, children := adaptivePriorBetter, float64(adaptivePriorChildren)
	for _, m := range steps {
		better += float64(m.Better)
		children += float64(m.Children)
	}
	return better / children
}

// gainOf returns 1-(1-p)ⁿ, precisely for small p too.
func gainOf(p float64, n int) float64 { return -math.Expm1(float64(n) * math.Log1p(-p)) }

// A line is the time of a step, a + b·n seconds.
type line struct{ a, b float64 }

func (l line) of(n int) float64 { return l.a + l.b*float64(n) }

// stepTime fits the time of a step to these by least squares, with a and b at least 0. It returns 0 without steps.
func stepTime(steps []evolve.Made) line {
	var k, sn, st, snn, snt float64
	for _, m := range steps {
		if m.Children == 0 {
			continue // nothing was made, so it tells nothing of how long making takes
		}
		n, t := float64(m.Children), m.Elapsed.Seconds()
		k, sn, st, snn, snt = k+1, sn+n, st+t, snn+n*n, snt+n*t
	}
	if k == 0 {
		return line{}
	}
	spread := k*snn - sn*sn // of the widths; 0 if all are the same
	if spread <= 0 {
		return line{a: st / k}
	}
	b := (k*snt - sn*st) / spread
	a := (st - b*sn) / k
	switch { // the best on the border, as the squared error is convex
	case b < 0:
		return line{a: st / k}
	case a < 0:
		return line{b: snt / snn}
	}
	return line{a, b}
}
