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
// the search's own history how likely a child takes its parent's place, and how long a step takes.
//
// Let p be the chance that a child is kept ([evolve.Made].Kept): that it is better or, unless the search is strict, as
// good, since a search moves on a plateau by ties. Let τ(n) be the seconds that a step of n children takes. A step of n
// children of one parent brings a new parent with the chance
//
//	g(n) = 1 - (1-p)ⁿ
//
// and costs n calls and τ(n) seconds. With Second calls to a second, the gain for what it costs is
//
//	r(n) = g(n) / (n + Second·τ(n))
//
// which rises to one peak and falls after it. Without a value of time the peak is at n = 1, always. But r falls
// slowly there, and a wider step ends sooner. So Adaptive takes the largest n in Min..Max whose r(n) is at least
// (1-Waste) times that of the peak. Without a value of time and with the default Waste that is about 0.9 + 0.33/p:
// if every tenth child is kept, 4 children. Beyond the peak n is at most 4, or √s/2 after s steps if that is more, as
// short searches lose the most by wide steps.
//
// The estimates come from the recent half of the children, because gains become rare as a search goes on:
//
//	p = (k + 2) / (m + 4)
//
// for k kept ones among m. A new search thus begins with p = ½, and by default one child. τ(n) = a + b·n with a and b
// at least 0, by least squares over all steps that are read, because it takes steps of several widths to tell a from b,
// and time changes less than p. As long as all of them had one width, b is 0: a wider step is taken to cost no more
// time, until one has shown what it costs.
//
// What the model leaves out:
//
//   - How large a gain is. A step of many children keeps the best of them, which is worth more than a gain.
//   - That p falls when a gain is found, and rises after a plateau. It lags until the window has moved on.
//   - That time grows in stairs, where fewer calls are in flight at once than a step has children, and that the
//     slowest of many answers is later than that of few. The line is the best one through both.
//   - With evolve.GreedyConfig.Window the parent may change within a step, and wide steps cost nothing: leave the
//     Breadth out there.
type Adaptive struct {
	// Second is what a second of wall time is worth, in model calls; 0 means nothing. With 5, a step that takes
	// four seconds costs 20 calls more than it has children.
	Second float64
	// Waste is the share of the gain for what it costs that is given up for fewer and wider steps, less than 1. 0
	// means 0.15, or 0.3 with Better, and negative none.
	Waste float64
	// Better counts better children alone, p = (k + ½)/(m + 1), and lets n go to Max: too wide on plateaus. So older
	// journals were begun, and go on.
	Better bool
	Min    int // least number of children; 0 means 1
	Max    int // largest number of children, at most evolve.MaxN; 0 means evolve.DefaultN, or Min if that is more
}

// The constants of [Adaptive].
const (
	adaptiveWaste, betterWaste = 0.15, 0.3 // Waste where none is given, the second with Better
	adaptivePrior, betterPrior = 4, 1      // as if so many children had been seen, and half of them had been kept

	// Only the adaptiveHistory newest steps are read. For p it is those of them that hold adaptiveRecent of their
	// children, and no more than adaptiveSteps. The bounds keep a decision short in a search of 100,000 steps.
	adaptiveRecent  = 0.5
	adaptiveSteps   = 200
	adaptiveHistory = 400
)

var _ evolve.Breadth = Adaptive{}

func (a Adaptive) withDefaults() Adaptive {
	waste := adaptiveWaste
	if a.Better {
		waste = betterWaste
	}
	a.Waste = max(0, cmp.Or(a.Waste, waste))
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
		return fmt.Errorf("breadth: Adaptive.Waste is %v: need 0 for the default, or less than 1", a.Waste)
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
	most := max(4, int(math.Sqrt(float64(len(past)))/2))
	if a.Better {
		most = a.Max
	}
	past = past[max(0, len(past)-adaptiveHistory):]
	p, took := a.chance(recentHalf(past)), stepTime(past)
	rate := func(n int) float64 {
		return gainOf(p, n) / (float64(n) + a.Second*took.of(n))
	}
	// r rises to its peak and falls after it, so both are found by halving.
	peak := a.Min + sort.Search(a.Max-a.Min, func(i int) bool { return rate(a.Min+i+1) <= rate(a.Min+i) })
	enough := (1 - a.Waste) * rate(peak)
	return peak + sort.Search(max(0, min(a.Max, most)-peak), func(i int) bool { return rate(peak+i+1) < enough })
}

// String returns "Adaptive(second=0, waste=0.15, 1..64, kept)" with the numbers in force, and with Better what it
// returned before there was a choice, by which journals know it.
func (a Adaptive) String() string {
	a = a.withDefaults()
	counts := ", kept"
	if a.Better {
		counts = ""
	}
	return fmt.Sprintf("Adaptive(second=%v, waste=%v, %d..%d%s)", a.Second, a.Waste, a.Min, a.Max, counts)
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

// chance returns the posterior mean of p after these steps.
func (a Adaptive) chance(steps []evolve.Made) float64 {
	kept, better, children := 0, 0, 0
	for _, m := range steps {
		kept, better, children = kept+m.Kept, better+m.Better, children+m.Children
	}
	if a.Better {
		return (float64(better) + betterPrior/2.0) / float64(children+betterPrior)
	}
	return float64(kept+adaptivePrior/2) / float64(children+adaptivePrior)
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
