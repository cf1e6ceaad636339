package bandit

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
)

const (
	// tNodes is the number of Gauss-Legendre nodes of a panel. With the widths of tDraw.width errors
	// stay below 1e-10, which is the tests' tolerance.
	tNodes = 12
	// tNegligible is the chance at which a tail is left out.
	tNegligible = 1e-13
	// tRare is the chance that any draw is above where the sweep begins. Two at once are not told apart
	// there, which matters by its square.
	tRare = 1e-6
)

// largestStudent works out how likely each of several independent draws from Student's t-distributions
// is to be the largest,
//
//	p_i = ∫ f_i(x)·Π_{j≠i} F_j(x) dx = ∫ F(x)·f_i(x)/F_i(x) dx,  F = Π F_j,
//
// in one sweep over x for all of them. It is to Student's t what [largest] is to the normal distribution,
// and scratch space too. What differs:
//
// The tails reach too far for panels of one width, so those grow with the distance from the draws: the
// density is a smooth function of the logarithm of that. And F_j takes an incomplete beta function where
// the density takes a power, so it is integrated along the way: a polynomial through the densities at a
// panel's nodes gives the integral down to each of them.
type largestStudent struct {
	draws  []tDraw
	groups []tGroup
	x, w   []float64               // nodes and weights on [-1, 1]
	down   [tNodes][tNodes]float64 // down[k][l]: the weight of the density at l in its integral from node k to 1
}

// tDraw is one arm's mean + scale·t, with nu degrees of freedom.
type tDraw struct {
	arm             int
	mean, scale, nu float64
	top             float64 // where the upper tail is negligible
	log             float64 // logarithm of the density at the mean
}

// tGroup is draws that are alike.
type tGroup struct {
	tDraw
	count  float64
	above  float64 // chance to be above the part that was swept
	chance float64 // of one draw to be the largest
	f, cdf [tNodes]float64
}

func (l *largestStudent) reset() { l.draws = l.draws[:0] }

// add adds an arm. nu must be at least 1.
func (l *largestStudent) add(arm int, mean, scale, nu float64) {
	l.draws = append(l.draws, tDraw{arm: arm, mean: mean, scale: scale, nu: nu})
}

// probs fills p with each arm's chance, 0 for those not added. At least one must have been.
func (l *largestStudent) probs(p []float64) {
	clear(p)
	l.shift()
	l.group()
	if len(l.groups) == 1 {
		l.groups[0].chance = 1
	} else {
		l.sweep()
	}
	var sum float64
	for i := range l.groups {
		sum += l.groups[i].count * l.groups[i].chance
	}
	i := 0
	for g := range l.groups {
		for range int(l.groups[g].count) {
			p[l.draws[i].arm] = l.groups[g].chance / sum
			i++
		}
	}
}

// shift puts 0 at the largest mean, so that no precision is lost where it matters, whatever the size of
// the rewards. A scale that is lost beside the distance from there is widened to what can be told apart.
func (l *largestStudent) shift() {
	ref := math.Inf(-1)
	for i := range l.draws {
		ref = max(ref, l.draws[i].mean)
	}
	for i := range l.draws {
		d := &l.draws[i]
		d.mean -= ref
		d.scale = max(d.scale, 1e-13*math.Abs(d.mean), math.SmallestNonzeroFloat64)
		d.log = logGammaHalf(d.nu/2) - math.Log(d.nu*math.Pi)/2 - math.Log(d.scale)
		d.top = d.mean + d.scale*d.reach(tNegligible)
	}
}

// group sorts the draws by where their reach ends, highest first, and joins those that are alike.
func (l *largestStudent) group() {
	slices.SortFunc(l.draws, func(a, b tDraw) int {
		return cmp.Or(cmp.Compare(b.top, a.top), cmp.Compare(a.scale, b.scale), cmp.Compare(a.nu, b.nu), cmp.Compare(a.mean, b.mean), cmp.Compare(a.arm, b.arm))
	})
	l.groups = l.groups[:0]
	for i := range l.draws {
		d := &l.draws[i]
		if n := len(l.groups) - 1; n >= 0 && l.groups[n].mean == d.mean && l.groups[n].scale == d.scale && l.groups[n].nu == d.nu {
			l.groups[n].count++
			continue
		}
		l.groups = append(l.groups, tGroup{tDraw: *d, count: 1})
	}
}

// sweep integrates from the top downwards until the chance that the largest draw is lower is negligible.
func (l *largestStudent) sweep() {
	if l.x == nil {
		l.nodes()
	}
	hi, active := l.begin(), 0
	for {
		lo := math.Inf(-1)
		for {
			for i := range l.groups[:active] {
				lo = max(lo, hi-l.groups[i].width(hi))
			}
			if active == len(l.groups) || l.groups[active].top <= lo {
				break
			}
			active++
		}
		if !(lo < hi) || l.integrate(lo, hi, l.groups[:active]) < tNegligible {
			return
		}
		hi = lo
	}
}

// begin returns where the sweep begins. The chance to be above is the draw's own to be largest: it is rare,
// and rarer still for two.
func (l *largestStudent) begin() float64 {
	hi := math.Inf(-1)
	for i := range l.groups {
		g := &l.groups[i]
		hi = max(hi, g.mean+g.scale*g.reach(tRare/float64(len(l.draws))))
	}
	for i := range l.groups {
		if g := &l.groups[i]; g.top > hi {
			z := (hi - g.mean) / g.scale
			g.above = upperTail(z, g.nu)
			g.chance = g.above
		}
	}
	return hi
}

// integrate adds what the draws of the groups gain on [lo, hi]. It returns F(lo).
func (l *largestStudent) integrate(lo, hi float64, groups []tGroup) float64 {
	half := (hi - lo) / 2
	var product [tNodes]float64
	for k := range product {
		product[k] = half * l.w[k]
	}
	below := 1.0
	for i := range groups {
		g := &groups[i]
		l.densities(g, lo, half)
		for k := range product {
			product[k] *= power(g.cdf[k], g.count)
		}
		below *= power(max(1-g.above, 0), g.count)
	}
	for i := range groups {
		g := &groups[i]
		for k, v := range product {
			g.chance += v * g.f[k] / g.cdf[k]
		}
	}
	return below
}

// densities works out a group's density and distribution function at the nodes of the panel that begins
// at lo, and takes the panel into the chance to be above.
func (l *largestStudent) densities(g *tGroup, lo, half float64) {
	for k, x := range l.x {
		g.f[k] = g.density((lo + half*(1+x) - g.mean) / g.scale)
	}
	var panel float64
	for k := range g.f {
		var down float64
		for i, f := range g.f {
			down += l.down[k][i] * f
		}
		// Not 0, as it is divided by: f·ΠF over the others is F·f/F_i, whatever small F_i is.
		g.cdf[k] = max(1-g.above-half*down, 1e-30)
		panel += l.w[k] * g.f[k]
	}
	g.above += half * panel
}

// nodes sets up the panels. The polynomial through values at Gauss-Legendre nodes is
// Σ_l f_l·w_l·Σ_m (m + 1/2)·P_m(x_l)·P_m(x), and ∫_x^1 P_m = (P_{m−1}(x) − P_{m+1}(x))/(2m + 1).
func (l *largestStudent) nodes() {
	l.x, l.w = make([]float64, tNodes), make([]float64, tNodes)
	quad.Legendre{}.FixedLocations(l.x, l.w, -1, 1)
	for k, x := range l.x {
		at := legendre(x)
		for i, y := range l.x {
			sum, to := 1-x, legendre(y)
			for m := 1; m < tNodes; m++ {
				sum += to[m] * (at[m-1] - at[m+1])
			}
			l.down[k][i] = l.w[i] / 2 * sum
		}
	}
}

// legendre returns P_0(x), ..., P_n(x) for n = tNodes.
func legendre(x float64) [tNodes + 1]float64 {
	p := [tNodes + 1]float64{1, x}
	for m := 1; m < tNodes; m++ {
		p[m+1] = (float64(2*m+1)*x*p[m] - float64(m)*p[m-1]) / float64(m+1)
	}
	return p
}

// density returns the density at z scales from the mean.
func (d *tDraw) density(z float64) float64 {
	return math.Exp(d.log - (d.nu+1)/2*math.Log1p(z*z/d.nu))
}

// width returns how wide a panel may be that ends at hi: three scales, or about the distance of the density's
// poles, which lie √ν scales off the axis; away from the mean, a share of the way there.
func (d *tDraw) width(hi float64) float64 {
	z := (hi - d.mean) / d.scale
	core := min(3, 1.125*math.Sqrt(d.nu))
	if z > 0 {
		return d.scale * max(core, z/2)
	}
	return d.scale * max(core, -z)
}

// reach returns how many scales from the mean the upper tail has at most the given chance. It goes by
// S(z) ≤ f(z)·(ν + z²)/(ν·z), which is close where z is large.
func (d *tDraw) reach(chance float64) float64 {
	z := 2.0
	for d.scale*d.density(z)*(d.nu+z*z)/(d.nu*z) > chance {
		z *= 1.25
	}
	return z
}

// upperTail returns the chance that t with nu degrees of freedom is above z, for z > 0. Where ν is so large
// that it hardly differs from a normal one, and the incomplete beta function is at a loss, it is that.
func upperTail(z, nu float64) float64 {
	if nu > 1e9 {
		return math.Erfc(z/math.Sqrt2) / 2
	}
	return mathext.RegIncBeta(nu/2, 0.5, nu/(nu+z*z)) / 2
}

// logGammaHalf returns ln(Γ(a + 1/2)/Γ(a)). For large a it is the series in 1/a, as the difference of two
// large logarithms has no precision.
func logGammaHalf(a float64) float64 {
	if a < 20 {
		x, _ := math.Lgamma(a + 0.5)
		y, _ := math.Lgamma(a)
		return x - y
	}
	b := 1 / (a * a)
	return math.Log(a)/2 - (1./8-b*(1./192-b*(1./640-b*17./14336)))/a
}
