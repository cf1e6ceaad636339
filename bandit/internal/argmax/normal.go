package argmax

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
)

const (
	// reach is how many standard deviations from its mean a draw is taken to stay within. It is below, or
	// above, with chance 1.3e-12.
	reach = 7.0
	// nodes is the number of Gauss-Legendre nodes of a panel, and panel is its width in standard deviations
	// of the narrowest draw that reaches into it. Together they keep errors below 1e-10, which is the
	// tolerance of the tests.
	nodes = 10
	panel = 2.0
	// negligible is the chance at which the lower tail of the largest draw is left out.
	negligible = 2e-12
)

// Normal works out how likely each of several independent normal draws is to be the largest. The zero value
// has no draws. It is scratch space to use again and again: Reset, Add each draw, then Probs, which changes
// what was added. One goroutine owns it.
//
// The sweep is made in panels as narrow as the narrowest draw that reaches into them. Draws of the same mean
// and deviation are worked out once.
type Normal struct {
	draws  []normalDraw
	groups []normalGroup
	x, w   []float64 // nodes and weights on [-1, 1]
}

// normalDraw is one arm's N(mean, sd²).
type normalDraw struct {
	arm           int
	mean, sd, top float64 // top: where its reach ends
}

// normalGroup is draws of the same mean and deviation.
type normalGroup struct {
	mean, sd, top float64
	count         float64
	hazard        float64 // φ/Φ at the node being worked on
	chance        float64 // of one draw of the group
}

// Reset takes all draws away.
func (n *Normal) Reset() { n.draws = n.draws[:0] }

// Add adds a draw from N(mean, sd²) for an arm. sd must be positive.
func (n *Normal) Add(arm int, mean, sd float64) {
	n.draws = append(n.draws, normalDraw{arm: arm, mean: mean, sd: sd})
}

// Probs fills p with the chance of each arm that was added to have the largest draw, and with 0 for the
// others. At least one must have been added.
func (n *Normal) Probs(p []float64) {
	clear(p)
	n.keep()
	n.group()
	if len(n.groups) == 1 {
		n.groups[0].chance = 1
	} else {
		n.sweep()
	}
	var sum float64
	for _, g := range n.groups {
		sum += g.count * g.chance
	}
	i := 0
	for _, g := range n.groups {
		for range int(g.count) {
			p[n.draws[i].arm] = g.chance / sum
			i++
		}
	}
}

// keep drops the draws that do not reach up to where another draw surely is. It also changes the scale of
// x: the unit is the largest deviation, and 0 is the least that the largest draw can be. Every draw that is
// kept then reaches from below 0, so its mean is at most reach deviations above 0, however narrow it is.
// That keeps the precision where it matters, whatever the size of the rewards.
func (n *Normal) keep() {
	ref, unit := math.Inf(-1), 0.0
	for _, d := range n.draws {
		ref, unit = max(ref, d.mean), max(unit, d.sd)
	}
	low := math.Inf(-1)
	for i := range n.draws {
		d := &n.draws[i]
		d.mean, d.sd = (d.mean-ref)/unit, d.sd/unit
		low = max(low, d.mean-reach*d.sd)
	}
	for i := range n.draws {
		d := &n.draws[i]
		d.mean -= low
		d.top = d.mean + reach*d.sd
	}
	n.draws = slices.DeleteFunc(n.draws, func(d normalDraw) bool { return d.top <= 0 })
}

// group sorts the draws by where their reach ends, highest first, and joins draws that are alike.
func (n *Normal) group() {
	slices.SortFunc(n.draws, func(a, b normalDraw) int {
		return cmp.Or(cmp.Compare(b.top, a.top), cmp.Compare(a.sd, b.sd), cmp.Compare(a.mean, b.mean), cmp.Compare(a.arm, b.arm))
	})
	n.groups = n.groups[:0]
	for _, d := range n.draws {
		if last := len(n.groups) - 1; last >= 0 && n.groups[last].mean == d.mean && n.groups[last].sd == d.sd {
			n.groups[last].count++
			continue
		}
		n.groups = append(n.groups, normalGroup{mean: d.mean, sd: d.sd, top: d.top, count: 1})
	}
}

// sweep integrates from the top downwards.
func (n *Normal) sweep() {
	if n.x == nil {
		n.x, n.w = make([]float64, nodes), make([]float64, nodes)
		quad.Legendre{}.FixedLocations(n.x, n.w, -1, 1)
	}
	hi, active, narrowest := n.groups[0].top, 0, math.Inf(1)
	for below := 1.0; below > negligible; {
		lo := hi - panel*narrowest
		for active < len(n.groups) && n.groups[active].top > lo {
			g := n.groups[active]
			if g.sd < narrowest && g.top < hi {
				lo = g.top // where narrower panels begin
				break
			}
			narrowest = min(narrowest, g.sd)
			lo = hi - panel*narrowest
			active++
		}
		if !(lo < hi) {
			return // a mean or deviation is not a number
		}
		below = n.integrate(lo, hi, n.groups[:active])
		hi = lo
	}
}

// integrate adds to the chance of each group its integral over [lo, hi]. It leaves out the factor 1/√(2π),
// which all chances share and Probs divides by. It returns F at the lowest node.
func (n *Normal) integrate(lo, hi float64, groups []normalGroup) float64 {
	half, lowest := (hi-lo)/2, 1.0
	for k := range n.x {
		below := product(groups, lo+half*(1+n.x[k]))
		lowest = min(lowest, below)
		if below == 0 {
			continue
		}
		for i := range groups {
			groups[i].chance += n.w[k] * half * below * groups[i].hazard
		}
	}
	return lowest
}

// product returns F(x) and leaves φ/Φ at x in each group. Where a draw is sure to be above x, F is less than
// negligible and 0 is returned.
func product(groups []normalGroup, x float64) float64 {
	below := 1.0
	for i := range groups {
		g := &groups[i]
		u := (x - g.mean) / g.sd
		if u < -reach {
			return 0
		}
		cdf, hazard := normalCDF(u)
		g.hazard = hazard / g.sd
		below *= power(cdf, g.count)
	}
	return below
}
