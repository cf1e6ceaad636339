package argmax

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
)

const (
	// studentNodes is the number of Gauss-Legendre nodes of a panel. With the widths that
	// studentDraw.width gives, errors stay below 1e-10, which is the tolerance of the tests.
	studentNodes = 12
	// studentNegligible is the chance at which a tail is left out.
	studentNegligible = 1e-13
	// studentRare is the chance that any draw is above where the sweep begins. The case of two draws above
	// is not worked out there, which makes an error of the order of its square.
	studentRare = 1e-6
)

// Student works out how likely each of several independent draws from Student's t-distributions is to be the
// largest. It is used as [Normal] is.
//
// It differs from Normal in two ways. The tails reach too far for panels of one width, so panels grow with the
// distance from the draws: the density is a smooth function of the logarithm of that distance. And a
// distribution function takes an incomplete beta function, where the density takes only a power. So each F_j
// is integrated along the way: a polynomial through the densities at a panel's nodes gives the integral down
// to each node.
type Student struct {
	draws  []studentDraw
	groups []studentGroup
	x, w   []float64                           // nodes and weights on [-1, 1]
	down   [studentNodes][studentNodes]float64 // down[k][i]: the weight of the density at node i in its integral from node k to 1
}

// studentDraw is one arm's mean + scale·t, with nu degrees of freedom.
type studentDraw struct {
	arm             int
	mean, scale, nu float64
	top             float64 // where the upper tail is negligible
	log             float64 // logarithm of the density at the mean
}

// studentGroup is draws of the same mean, scale and degrees of freedom.
type studentGroup struct {
	studentDraw
	count  float64
	above  float64 // chance to be above the part that was swept
	chance float64 // of one draw to be the largest
	f, cdf [studentNodes]float64
}

// Reset takes all draws away.
func (s *Student) Reset() { s.draws = s.draws[:0] }

// Add adds a draw of mean + scale·t for an arm, with t from Student's distribution of nu degrees of freedom.
// nu must be at least 1.
func (s *Student) Add(arm int, mean, scale, nu float64) {
	s.draws = append(s.draws, studentDraw{arm: arm, mean: mean, scale: scale, nu: nu})
}

// Probs fills p with the chance of each arm that was added to have the largest draw, and with 0 for the
// others. At least one must have been added.
func (s *Student) Probs(p []float64) {
	clear(p)
	s.shift()
	s.group()
	if len(s.groups) == 1 {
		s.groups[0].chance = 1
	} else {
		s.sweep()
	}
	var sum float64
	for i := range s.groups {
		sum += s.groups[i].count * s.groups[i].chance
	}
	i := 0
	for g := range s.groups {
		for range int(s.groups[g].count) {
			p[s.draws[i].arm] = s.groups[g].chance / sum
			i++
		}
	}
}

// shift puts 0 at the largest mean. That keeps the precision where it matters, whatever the size of the
// rewards. A scale too small for a float64 to tell its neighbours apart at that distance is widened until it
// can.
func (s *Student) shift() {
	ref := math.Inf(-1)
	for i := range s.draws {
		ref = max(ref, s.draws[i].mean)
	}
	for i := range s.draws {
		d := &s.draws[i]
		d.mean -= ref
		d.scale = max(d.scale, 1e-13*math.Abs(d.mean), math.SmallestNonzeroFloat64)
		d.log = logGammaHalf(d.nu/2) - math.Log(d.nu*math.Pi)/2 - math.Log(d.scale)
		d.top = d.mean + d.scale*d.reach(studentNegligible)
	}
}

// group sorts the draws by where their reach ends, highest first, and joins draws that are alike.
func (s *Student) group() {
	slices.SortFunc(s.draws, func(a, b studentDraw) int {
		return cmp.Or(cmp.Compare(b.top, a.top), cmp.Compare(a.scale, b.scale), cmp.Compare(a.nu, b.nu), cmp.Compare(a.mean, b.mean), cmp.Compare(a.arm, b.arm))
	})
	s.groups = s.groups[:0]
	for i := range s.draws {
		d := &s.draws[i]
		if n := len(s.groups) - 1; n >= 0 && s.groups[n].mean == d.mean && s.groups[n].scale == d.scale && s.groups[n].nu == d.nu {
			s.groups[n].count++
			continue
		}
		s.groups = append(s.groups, studentGroup{studentDraw: *d, count: 1})
	}
}

// sweep integrates from the top downwards until the chance that the largest draw is lower is negligible.
func (s *Student) sweep() {
	if s.x == nil {
		s.nodes()
	}
	hi, active := s.begin(), 0
	for {
		lo := math.Inf(-1)
		for {
			for i := range s.groups[:active] {
				lo = max(lo, hi-s.groups[i].width(hi))
			}
			if active == len(s.groups) || s.groups[active].top <= lo {
				break
			}
			active++
		}
		if !(lo < hi) || s.integrate(lo, hi, s.groups[:active]) < studentNegligible {
			return
		}
		hi = lo
	}
}

// begin returns where the sweep begins. A draw above that counts as the largest, since a second one above it
// as well is rarer still. Its chance to be above is therefore added to its chance to be the largest.
func (s *Student) begin() float64 {
	hi := math.Inf(-1)
	for i := range s.groups {
		g := &s.groups[i]
		hi = max(hi, g.mean+g.scale*g.reach(studentRare/float64(len(s.draws))))
	}
	for i := range s.groups {
		if g := &s.groups[i]; g.top > hi {
			z := (hi - g.mean) / g.scale
			g.above = upperTail(z, g.nu)
			g.chance = g.above
		}
	}
	return hi
}

// integrate adds to the chance of each group its integral over [lo, hi]. It returns F(lo).
func (s *Student) integrate(lo, hi float64, groups []studentGroup) float64 {
	half := (hi - lo) / 2
	var product [studentNodes]float64
	for k := range product {
		product[k] = half * s.w[k]
	}
	below := 1.0
	for i := range groups {
		g := &groups[i]
		s.densities(g, lo, half)
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

// densities works out a group's density and distribution function at the nodes of the panel that begins at
// lo. It adds the panel's mass to the group's chance to be above.
func (s *Student) densities(g *studentGroup, lo, half float64) {
	for k, x := range s.x {
		g.f[k] = g.density((lo + half*(1+x) - g.mean) / g.scale)
	}
	var panel float64
	for k := range g.f {
		var down float64
		for i, f := range g.f {
			down += s.down[k][i] * f
		}
		// It is divided by, so it must not be 0. F·f/F_i is right for any small F_i, as F has it as a factor.
		g.cdf[k] = max(1-g.above-half*down, 1e-30)
		panel += s.w[k] * g.f[k]
	}
	g.above += half * panel
}

// nodes sets up the nodes, their weights and the weights of the integrals down to each node. The polynomial
// through the values f_l at Gauss-Legendre nodes x_l of weights w_l is
// Σ_l f_l·w_l·Σ_m (m + 1/2)·P_m(x_l)·P_m(x), and ∫_x^1 P_m = (P_{m−1}(x) − P_{m+1}(x))/(2m + 1).
func (s *Student) nodes() {
	s.x, s.w = make([]float64, studentNodes), make([]float64, studentNodes)
	quad.Legendre{}.FixedLocations(s.x, s.w, -1, 1)
	for k, x := range s.x {
		at := legendre(x)
		for i, y := range s.x {
			sum, to := 1-x, legendre(y)
			for m := 1; m < studentNodes; m++ {
				sum += to[m] * (at[m-1] - at[m+1])
			}
			s.down[k][i] = s.w[i] / 2 * sum
		}
	}
}

// legendre returns P_0(x), ..., P_n(x) for n = studentNodes.
func legendre(x float64) [studentNodes + 1]float64 {
	p := [studentNodes + 1]float64{1, x}
	for m := 1; m < studentNodes; m++ {
		p[m+1] = (float64(2*m+1)*x*p[m] - float64(m)*p[m-1]) / float64(m+1)
	}
	return p
}

// density returns the density at z scales from the mean.
func (d *studentDraw) density(z float64) float64 {
	return math.Exp(d.log - (d.nu+1)/2*math.Log1p(z*z/d.nu))
}

// width returns how wide a panel that ends at hi may be. Near the mean it is three scales, or less where the
// poles of the density are closer: they lie √ν scales off the axis. Away from the mean it is a share of the
// way there.
func (d *studentDraw) width(hi float64) float64 {
	z := (hi - d.mean) / d.scale
	core := min(3, 1.125*math.Sqrt(d.nu))
	if z > 0 {
		return d.scale * max(core, z/2)
	}
	return d.scale * max(core, -z)
}

// reach returns a number of scales above the mean beyond which the draw lies with at most the given chance. It
// uses the bound S(z) ≤ f(z)·(ν + z²)/(ν·z) of the upper tail, which is close where z is large.
func (d *studentDraw) reach(chance float64) float64 {
	z := 2.0
	for d.scale*d.density(z)*(d.nu+z*z)/(d.nu*z) > chance {
		z *= 1.25
	}
	return z
}

// upperTail returns the chance that t with nu degrees of freedom is above z, for z > 0. For very large ν it
// returns the normal tail: the two hardly differ there, and the incomplete beta function loses its precision.
func upperTail(z, nu float64) float64 {
	if nu > 1e9 {
		return math.Erfc(z/math.Sqrt2) / 2
	}
	return mathext.RegIncBeta(nu/2, 0.5, nu/(nu+z*z)) / 2
}

// logGammaHalf returns ln(Γ(a + 1/2)/Γ(a)). For large a it is a series in 1/a, as the difference of two
// large logarithms would lose all precision.
func logGammaHalf(a float64) float64 {
	if a < 20 {
		x, _ := math.Lgamma(a + 0.5)
		y, _ := math.Lgamma(a)
		return x - y
	}
	b := 1 / (a * a)
	return math.Log(a)/2 - (1./8-b*(1./192-b*(1./640-b*17./14336)))/a
}
