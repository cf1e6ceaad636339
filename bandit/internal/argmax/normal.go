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
	reach = 7
	// nodes is the number of Gauss-Legendre nodes of a panel, and panel is its width in standard deviations
	// of the narrowest draw that matters in it.
	nodes = 12
	panel = 2.5
	// safe is the number of standard deviations above its mean from where all of a draw matters little, so
	// that panels there may be wider, up to far standard deviations.
	safe = 4.0
	far  = 4.5
	// negligible is the chance at which the lower tail of the largest draw is left out.
	negligible = 1e-11
	// rare is the chance that any draw is above where the sweep begins. The case of two draws above is not
	// worked out there, which makes an error of the order of its square.
	rare = 5e-6
)

// Normal works out how likely each of several independent normal draws is to be the largest. The zero value
// has no draws. It is scratch space to use again and again: Reset, Add each draw, then Probs, which changes
// what was added. It is not safe for concurrent use.
//
// The sweep is made in panels as narrow as the narrowest draw that matters in them. Draws of the same mean and
// deviation are worked out once. With up to 1000 draws chances are off by at most 5e-11, most of it what lies
// beyond reach; the tolerance of the tests is 1e-10.
type Normal struct {
	draws  []normalDraw
	groups []normalGroup
	x, w   [nodes]float64 // nodes and weights on [-1, 1]
	table  *normalTable
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
	chance        float64        // of one draw of the group
	hazard        [nodes]float64 // σ·φ/Φ at the nodes of the panel being worked on
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

// keep drops the draws that exceed another one with a chance of at most 1.3e-12, that of being beyond reach. The
// other one is that whose least is the highest; the difference of the two is normal as well. It also changes the scale
// of x: the unit is the largest deviation, and 0 is the least that the largest draw can be. Every draw that is kept
// then reaches from below 0, so its mean is at most reach deviations above 0, however narrow it is. That keeps the
// precision where it matters, whatever the size of the rewards.
func (n *Normal) keep() {
	ref, unit := math.Inf(-1), 0.0
	for _, d := range n.draws {
		ref, unit = max(ref, d.mean), max(unit, d.sd)
	}
	low, sure := math.Inf(-1), 0.0
	for i := range n.draws {
		d := &n.draws[i]
		d.mean, d.sd = (d.mean-ref)/unit, d.sd/unit
		if l := d.mean - reach*d.sd; l > low {
			low, sure = l, d.sd
		}
	}
	for i := range n.draws {
		d := &n.draws[i]
		d.mean -= low
		d.top = d.mean + reach*d.sd
	}
	n.draws = slices.DeleteFunc(n.draws, func(d normalDraw) bool {
		return reach*sure-d.mean > reach*math.Hypot(sure, d.sd)
	})
}

// group sorts the draws by where their reach ends, highest first, and joins draws that are alike.
func (n *Normal) group() {
	slices.SortFunc(n.draws, compareDraws)
	n.groups = n.groups[:0]
	for _, d := range n.draws {
		if last := len(n.groups) - 1; last >= 0 && n.groups[last].mean == d.mean && n.groups[last].sd == d.sd {
			n.groups[last].count++
			continue
		}
		n.groups = append(n.groups, normalGroup{mean: d.mean, sd: d.sd, top: d.top, count: 1})
	}
}

// compareDraws orders draws by where their reach ends, highest first, and those that are alike by arm.
func compareDraws(a, b normalDraw) int {
	switch { // and not cmp.Or, which would compare all four each time
	case a.top > b.top:
		return -1
	case a.top < b.top:
		return 1
	}
	return cmp.Or(cmp.Compare(a.sd, b.sd), cmp.Compare(a.mean, b.mean), cmp.Compare(a.arm, b.arm))
}

// sweep integrates from the top downwards.
func (n *Normal) sweep() {
	if n.table == nil {
		n.table = newNormalTable()
		quad.Legendre{}.FixedLocations(n.x[:], n.w[:], -1, 1)
	}
	hi := n.begin()
	for below := 1.0; below > negligible; {
		lo, active := n.panel(hi)
		if !(lo < hi) {
			return // a mean or deviation is not a number
		}
		below = n.integrate(lo, hi, n.groups[:active])
		hi = lo
	}
}

// begin returns where the sweep begins. A draw above that counts as the largest, since a second one above it as
// well is rarer still: its chance to be above is its chance to be the largest.
func (n *Normal) begin() float64 {
	z := math.Sqrt2 * math.Erfcinv(2*rare/float64(len(n.draws)))
	hi := math.Inf(-1)
	for i := range n.groups {
		hi = max(hi, n.groups[i].mean+z*n.groups[i].sd)
	}
	for i := range n.groups {
		if g := &n.groups[i]; g.top > hi {
			g.chance = math.Erfc((hi-g.mean)/(g.sd*math.Sqrt2)) / 2
		}
	}
	return hi
}

// panel returns the lower end of the panel that ends at hi, and how many groups reach into it.
func (n *Normal) panel(hi float64) (lo float64, active int) {
	lo = math.Inf(-1)
	for i := range n.groups {
		g := &n.groups[i]
		if g.top <= lo {
			break
		}
		lo = max(lo, min(g.top, hi-g.width(hi)))
	}
	for active < len(n.groups) && n.groups[active].top > lo {
		active++
	}
	return lo, active
}

// width returns how wide a panel that ends at hi may be. Far above the mean it may be wider, as all of it that
// matters there is small.
func (g *normalGroup) width(hi float64) float64 {
	return min(max(panel*g.sd, hi-g.mean-safe*g.sd), far*g.sd)
}

// integrate adds to the chance of each group its integral over [lo, hi]. It returns the least F at a node.
func (n *Normal) integrate(lo, hi float64, groups []normalGroup) float64 {
	half, middle := (hi-lo)/2, lo/2+hi/2
	var below [nodes]float64
	for k := range below {
		below[k] = 1
	}
	for i := range groups {
		groups[i].multiply(&below, &n.x, n.table, middle, half)
	}
	lowest := slices.Min(below[:])
	for k := range below {
		below[k] *= n.w[k] * half
	}
	for i := range groups {
		var sum float64
		for k, v := range below {
			sum += v * groups[i].hazard[k]
		}
		groups[i].chance += sum / groups[i].sd
	}
	return lowest
}

// multiply leaves φ/Φ at each node in the group, and multiplies F there by the group's Φ. Where a draw is sure
// to be above, F is less than negligible and becomes 0.
func (g *normalGroup) multiply(below, x *[nodes]float64, table *normalTable, middle, half float64) {
	at, step := (middle-g.mean)/g.sd, half/g.sd
	for k := range below {
		u := at + step*x[k]
		if !(u > -reach) { // NaN as well
			g.hazard[k], below[k] = 0, 0
			continue
		}
		if u >= reach {
			g.hazard[k] = 0
			continue
		}
		cdf, density := table.at(u)
		g.hazard[k] = density / cdf
		below[k] *= power(cdf, g.count)
	}
}
