package bandit

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
)

const (
	// reach is how many standard deviations from its mean a draw is taken to stay within: the
	// chance to be below, or above, is 1.3e-12.
	reach = 7.0
	// nodes is the number of Gauss-Legendre nodes of a panel, and panel its width in standard
	// deviations of the narrowest draw that reaches into it. With the two together errors stay
	// below 1e-10, which is the tests' tolerance.
	nodes = 10
	panel = 2.0
	// negligible is the chance at which the lower tail of the largest draw is left out.
	negligible = 2e-12
)

// largest works out how likely each of several independent normal draws is to be the largest,
//
//	p_i = ∫ φ_i(x)·Π_{j≠i} Φ_j(x) dx = ∫ F(x)·φ_i(x)/Φ_i(x) dx,  F = Π Φ_j,
//
// in one sweep over x for all of them, as F is the same for all. It is scratch space: what it
// holds means nothing after probs.
//
// The sweep goes down from where no draw reaches, in panels as narrow as the narrowest draw that
// reaches into them. F(x) is the chance that the largest draw is below x, hence exactly what is
// left to share out, and the sweep ends when it is negligible. Draws of the same mean and
// deviation are worked out once.
type largest struct {
	draws  []draw
	groups []group
	x, w   []float64 // nodes and weights on [-1, 1]
}

// draw is one arm's N(mean, sd²).
type draw struct {
	arm           int
	mean, sd, top float64 // top: where its reach ends
}

// group is draws of the same mean and deviation.
type group struct {
	mean, sd, top float64
	count         float64
	hazard        float64 // φ/Φ at the node being worked on
	chance        float64 // of one draw of the group
}

func (l *largest) reset() { l.draws = l.draws[:0] }

func (l *largest) add(arm int, mean, sd float64) {
	l.draws = append(l.draws, draw{arm: arm, mean: mean, sd: sd})
}

// probs fills p with each arm's chance, 0 for those not added. At least one must have been.
func (l *largest) probs(p []float64) {
	clear(p)
	l.keep()
	l.group()
	if len(l.groups) == 1 {
		l.groups[0].chance = 1
	} else {
		l.sweep()
	}
	var sum float64
	for _, g := range l.groups {
		sum += g.count * g.chance
	}
	i := 0
	for _, g := range l.groups {
		for range int(g.count) {
			p[l.draws[i].arm] = g.chance / sum
			i++
		}
	}
}

// keep drops the draws that do not reach where another one surely is, and puts x in units of the
// largest deviation with 0 at the least that the largest draw can be. A draw that is kept then
// reaches from below 0, so its mean is at most reach deviations, however narrow it is: no
// precision is lost where it matters, whatever the size of the rewards.
func (l *largest) keep() {
	ref, unit := math.Inf(-1), 0.0
	for _, d := range l.draws {
		ref, unit = max(ref, d.mean), max(unit, d.sd)
	}
	low := math.Inf(-1)
	for i := range l.draws {
		d := &l.draws[i]
		d.mean, d.sd = (d.mean-ref)/unit, d.sd/unit
		low = max(low, d.mean-reach*d.sd)
	}
	for i := range l.draws {
		d := &l.draws[i]
		d.mean -= low
		d.top = d.mean + reach*d.sd
	}
	l.draws = slices.DeleteFunc(l.draws, func(d draw) bool { return d.top <= 0 })
}

// group sorts the draws by where their reach ends, highest first, and joins those that are alike.
func (l *largest) group() {
	slices.SortFunc(l.draws, func(a, b draw) int {
		return cmp.Or(cmp.Compare(b.top, a.top), cmp.Compare(a.sd, b.sd), cmp.Compare(a.mean, b.mean), cmp.Compare(a.arm, b.arm))
	})
	l.groups = l.groups[:0]
	for _, d := range l.draws {
		if n := len(l.groups) - 1; n >= 0 && l.groups[n].mean == d.mean && l.groups[n].sd == d.sd {
			l.groups[n].count++
			continue
		}
		l.groups = append(l.groups, group{mean: d.mean, sd: d.sd, top: d.top, count: 1})
	}
}

// sweep integrates from the top downwards.
func (l *largest) sweep() {
	if l.x == nil {
		l.x, l.w = make([]float64, nodes), make([]float64, nodes)
		quad.Legendre{}.FixedLocations(l.x, l.w, -1, 1)
	}
	hi, active, narrowest := l.groups[0].top, 0, math.Inf(1)
	for below := 1.0; below > negligible; {
		lo := hi - panel*narrowest
		for active < len(l.groups) && l.groups[active].top > lo {
			g := l.groups[active]
			if g.sd < narrowest && g.top < hi {
				lo = g.top // where narrower panels begin
				break
			}
			narrowest = min(narrowest, g.sd)
			lo = hi - panel*narrowest
			active++
		}
		if !(lo < hi) {
			return // not numbers
		}
		below = l.integrate(lo, hi, l.groups[:active])
		hi = lo
	}
}

// integrate adds what the draws of the groups that reach into it gain on [lo, hi], but for the factor
// 1/√(2π), which they share. It returns F at the lowest node.
func (l *largest) integrate(lo, hi float64, groups []group) float64 {
	half, lowest := (hi-lo)/2, 1.0
	for k := range l.x {
		below := product(groups, lo+half*(1+l.x[k]))
		lowest = min(lowest, below)
		if below == 0 {
			continue
		}
		for i := range groups {
			groups[i].chance += l.w[k] * half * below * groups[i].hazard
		}
	}
	return lowest
}

// product returns F(x) and leaves φ/Φ of each group at x. Where a draw is sure to be above x, F is
// less than negligible and taken for 0.
func product(groups []group, x float64) float64 {
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

func power(x, n float64) float64 {
	if n == 1 {
		return x
	}
	return math.Pow(x, n)
}
