package bandit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
)

// BetaThompson is Thompson sampling for outcomes that are a gain or none. An arm is pulled with the chance that a draw
// of its rate of gains, for what its calls cost, is the largest. With n outcomes of which w were gains, each counting
// γᵏ once k others have come after it,
//
//	v ~ Beta(w + max(½, k·p), n − w + max(1, k·(1 − p))),  and the largest v/cost is pulled
//
// with the costs of [Round].Costs. The prior is worth k outcomes of all arms' rate p = (W + ½)/(N + 3/2), W and N the sums
// of w and n: where gains are rare, an arm that was hardly tried is taken to be like the others. A reward within (0, 1)
// counts as that part of a gain, and one outside as the nearer end.
//
// The chances are integrated numerically, to 1e-6, and not estimated by drawing. They depend on the outcomes that are
// in, and not on pending pulls.
//
// Sources: O. Chapelle, L. Li, "An Empirical Evaluation of Thompson Sampling" (NeurIPS 2011); V. Raj, S. Kalyani,
// "Taming Non-stationary Bandits: A Bayesian Approach" (2017).
type BetaThompson struct {
	// Discount is γ; 0 means 0.995, so that about the last 200 outcomes count: rates of gains fall as a search gets on.
	// It panics at the first draw if it is not in (0, 1].
	Discount float64
	// Prior is k; 0 means 20, and negative 0. It panics at the first draw if it is not finite.
	Prior float64

	seen Tally
	x, w [betaNodes]float64 // Gauss-Legendre nodes and weights on [-1, 1]
}

// betaNodes is the number of nodes of a panel.
const betaNodes = 12

var _ Forgetter = (*BetaThompson)(nil)

func (b *BetaThompson) discount() float64 { return cmp.Or(b.Discount, 0.995) }

func (b *BetaThompson) prior() float64 { return max(0, cmp.Or(b.Prior, 20)) }

// Update records one outcome.
func (b *BetaThompson) Update(pull Pull, reward float64) {
	if finite(reward) {
		b.Forget(b.discount())
		b.seen.Add(pull.Arm, min(max(reward, 0), 1))
	}
}

// Forget discounts the outcomes so far by gamma, beside Discount.
func (b *BetaThompson) Forget(gamma float64) { b.seen.Discount(gamma) }

// String names the policy and its parameters.
func (b *BetaThompson) String() string {
	return fmt.Sprintf("BetaThompson(discount=%v, prior=%v)", b.discount(), b.prior())
}

// A betaDraw is the draw of arms that are alike, divided by their cost.
type betaDraw struct {
	alpha, beta, cost float64
	norm              float64 // ln 2/B(alpha, beta)
	arms              []int
	chance            float64 // of one of them
}

// Probs fills p with the chance that the draw of each open arm, for its cost, is the largest among the open arms.
func (b *BetaThompson) Probs(p []float64, r Round) {
	if d := b.discount(); !(d > 0 && d <= 1) {
		panicf("BetaThompson.Discount is %v: need a factor in (0, 1]", d)
	}
	if k := b.prior(); !finite(k) {
		panicf("BetaThompson.Prior is %v: need a finite number", k)
	}
	if b.w[0] == 0 {
		quad.Legendre{}.FixedLocations(b.x[:], b.w[:], -1, 1)
	}
	draws := b.draws(r)
	for first := range draws { // what costs more than a section reaches has its draw below it for certain
		if first == 0 || draws[first].cost < draws[first-1].cost {
			b.section(draws, first)
		}
	}
	sum := 0.0
	for _, d := range draws {
		sum += d.chance * float64(len(d.arms))
	}
	for _, d := range draws {
		for _, arm := range d.arms {
			p[arm] = d.chance / sum
		}
	}
}

// draws returns those of the open arms, the dearest first.
func (b *BetaThompson) draws(r Round) (draws []betaDraw) {
	k, p := b.prior(), (b.seen.Total()*b.seen.Overall()+0.5)/(b.seen.Total()+1.5)
	for arm, open := range r.Open {
		if !open {
			continue
		}
		n := b.seen.Pulls(arm)
		wins := n * b.seen.Mean(arm)
		d := betaDraw{alpha: wins + max(0.5, k*p), beta: n - wins + max(1, k*(1-p)), cost: r.cost(arm)}
		same := slices.IndexFunc(draws, func(e betaDraw) bool {
			return e.alpha == d.alpha && e.beta == d.beta && e.cost == d.cost
		})
		if same < 0 {
			d.norm = math.Ln2 - mathext.Lbeta(d.alpha, d.beta)
			same, draws = len(draws), append(draws, d)
		}
		draws[same].arms = append(draws[same].arms, arm)
	}
	slices.SortStableFunc(draws, func(a, b betaDraw) int { return cmp.Compare(b.cost, a.cost) })
	return draws
}

// section adds to the chances of the draws from first on, which cost c or less, the integral over the values u = v/cost
// that those reach and the dearer ones do not. It runs over the angle φ with u = sin²φ/c: of n outcomes, a Beta's
// deviation is about 1/(2√n) there, whatever its mean, and densities are smooth at both ends.
func (b *BetaThompson) section(draws []betaDraw, first int) {
	c, low, width := draws[first].cost, 0.0, math.Pi/2
	if first > 0 {
		low = math.Asin(math.Sqrt(c / draws[first-1].cost))
	}
	for _, d := range draws[first:] {
		width = min(width, 1.25/math.Sqrt(d.alpha+d.beta))
	}
	panels := math.Ceil((math.Pi/2 - low) / width)
	half := (math.Pi/2 - low) / panels / 2
	for k := panels - 1; k >= 0; k-- {
		middle := low + (2*k+1)*half
		most := 0.0
		for i, x := range b.x {
			most = max(most, add(draws[first:], c, middle+half*x, half*b.w[i]))
		}
		if most < 1e-12 {
			return
		}
	}
}

// add adds a node to the chances, p_i = ∫ f_i/F_i·Π F_j, and returns the product.
func add(draws []betaDraw, c, angle, weight float64) float64 {
	sin, cos := math.Sincos(angle)
	below := 1.0
	hazard := make([]float64, len(draws))
	for i, d := range draws {
		v := sin * sin * d.cost / c
		rest := 1 - v
		if d.cost == c {
			rest = cos * cos
		}
		cdf := mathext.RegIncBeta(d.alpha, d.beta, v)
		if cdf == 0 {
			return 0
		}
		below *= math.Pow(cdf, float64(len(d.arms)))
		// dv = 2·sin·cos·cost/c dφ
		hazard[i] = math.Exp(d.norm+(d.alpha-1)*math.Log(v)+(d.beta-1)*math.Log(rest)) * sin * cos * d.cost / c / cdf
	}
	for i := range draws {
		draws[i].chance += weight * below * hazard[i]
	}
	return below
}
