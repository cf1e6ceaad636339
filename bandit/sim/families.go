package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Families returns the families of this package, each a *[Formula]. The arms of
//
//	heavy-tail         rise in jumps of very different size, ever more rarely
//	plateaus           stop for ever, seven in ten of them
//	power-law          saturate as a power of the number of children, at ceilings of their own
//	first-impressions  begin with a child whose score is misleading
//	breakthrough       are stuck at 0 until a child breaks through
//	late-bloomers      rise at once and end low, or late and end high
//	draws              do not learn: every child is an independent draw
//	staircase          rise in equal steps at irregular times
//	late-jumps         hardly move until one large jump, which half of them make
//	near-top           come near the ceiling, and stop at different places below it
//	dead-arms          never rise, seven in ten of them
//	shrinking-noise    have children that scatter less and less
//	exchangeable       do not differ
//	linear             rise by the same amount with every child
//	crossing           have curves that cross: the faster an arm, the lower it ends
//	ideas              tune an idea each, of very different worth, with ever smaller gains
//	fast-or-high       are fast and end low, or slow and end high
//	steady-luck        do not differ, and rise in frequent jumps
//	rare-luck          do not differ, and rise in rare jumps of very different size
//	leaping-ideas      tune ideas, and now and then find a better one
//	polish             rise for ever, ever more slowly, each by a law of its own
//
// The constants of bandit.ExpectedImprovement were chosen on the first eleven and on others, those of bandit.Challenge
// also on ideas, fast-or-high and both kinds of luck. Nothing was tuned on shrinking-noise, exchangeable, linear,
// crossing, leaping-ideas and polish, so claims are checked on these. Whoever tunes on them has to make others.
func Families() []Family {
	var all []Family
	for _, f := range families {
		all = append(all, f)
	}
	return all
}

var families = []*Formula{
	{"heavy-tail", 0.3, heavyTail},
	{"plateaus", 0.3, plateaus},
	{"power-law", 0.3, powerLaw},
	{"first-impressions", 0.2, firstImpressions},
	{"breakthrough", 0, breakthrough},
	{"late-bloomers", 0.2, lateBloomers},
	{"draws", 0.3, draws},
	{"staircase", 0.1, staircase},
	{"late-jumps", 0.2, lateJumps},
	{"near-top", 0.4, nearTop},
	{"dead-arms", 0.3, deadArms},
	{"shrinking-noise", 0.3, shrinkingNoise},
	{"exchangeable", 0.2, exchangeable},
	{"linear", 0, linear},
	{"crossing", 0, crossing},
	{"ideas", 0.1, ideas(0.2, 0.05, 0, 0.6)},
	{"fast-or-high", 0.1, fastOrHigh},
	{"steady-luck", 0.1, luck(0.1, 0.002, 0.4)},
	{"rare-luck", 0.1, luck(0.03, 0.01, 0.7)},
	{"leaping-ideas", 0.1, ideas(0.1, 0.03, 0.003, 0.8)},
	{"polish", 0.2, polish},
}

// Named returns the family of [Families] with a name. It panics if there is none.
func Named(name string) *Formula {
	i := slices.IndexFunc(families, func(f *Formula) bool { return f.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("sim: no family is named %q: names are those of Families", name))
	}
	return families[i]
}

// heavyTail improves with chance min(½, λ/(s + 4)) by child number s, where λ = 2·exp(0.7·z) per arm and z is standard
// normal, so jumps come evenly in log time, some ten in 512 children. A jump closes the share min(1, 0.02·u^(−1/1.2))
// of the gap to 1, u uniform: a Pareto law.
func heavyTail(r *rand.Rand) func(s int, best float64) float64 {
	rate := 2 * logNormal(r, 0.7)
	return func(s int, best float64) float64 {
		if r.Float64() >= min(0.5, rate/float64(s+4)) {
			return 0
		}
		share := min(1, 0.02*math.Pow(1-r.Float64(), -1/1.2))
		return best + (1-best)*share
	}
}

// plateaus stop with chance 0.7. Before that all are alike: each child improves with chance 0.08·exp(0.4·z), z standard
// normal per arm, and closes an exponential share, 0.03 on average, of the gap to 1. A stopping arm makes its last
// improvement before child number 4 to 400, log-uniformly.
func plateaus(r *rand.Rand) func(s int, best float64) float64 {
	stops := r.Float64() < 0.7
	last := int(scale(r, 4, 400))
	rate := 0.08 * logNormal(r, 0.4)
	return func(s int, best float64) float64 {
		if stops && s >= last || r.Float64() >= rate {
			return 0
		}
		return best + (1-best)*min(1, 0.03*r.ExpFloat64())
	}
}

// powerLaw has scores normal with deviation 0.01 about A − (A − 0.3)·(1 + s/τ)^(−b), which cannot pass A, with A
// uniform in 0.6 to 0.98, b in 0.2 to 0.8 and τ log-uniform in 2 to 40 per arm.
func powerLaw(r *rand.Rand) func(s int, best float64) float64 {
	ceiling, b, tau := between(r, 0.6, 0.98), between(r, 0.2, 0.8), scale(r, 2, 40)
	return func(s int, best float64) float64 {
		mean := ceiling - (ceiling-0.3)*math.Pow(1+float64(s)/tau, -b)
		return min(mean+0.01*r.NormFloat64(), ceiling)
	}
}

// firstImpressions have a first child that scores anything from 0.2 to 0.6, whatever the arm is worth. From there each
// child improves with chance q, log-uniform in 0.004 to 0.1 per arm, and closes an exponential share, 0.08 on average,
// of the gap to 1.
func firstImpressions(r *rand.Rand) func(s int, best float64) float64 {
	spread := 0.4 // a variable, so that the sum is rounded as it always was
	first, rate := between(r, 0.2, 0.2+spread), scale(r, 0.004, 0.1)
	return func(s int, best float64) float64 {
		switch {
		case s == 1:
			return first
		case r.Float64() >= rate:
			return 0
		}
		return best + (1-best)*min(1, 0.08*r.ExpFloat64())
	}
}

// breakthrough has a child break through with chance q, log-uniform in 1/300 to 1/15 per arm, to 0.4 to 0.7. From there
// each child improves with chance 0.05, and closes an exponential share, 0.05 on average, of the gap to 1.
func breakthrough(r *rand.Rand) func(s int, best float64) float64 {
	rate := scale(r, 1.0/300, 1.0/15)
	return func(s int, best float64) float64 {
		switch {
		case best == 0 && r.Float64() < rate:
			return between(r, 0.4, 0.7)
		case best > 0 && r.Float64() < 0.05:
			return best + (1-best)*min(1, 0.05*r.ExpFloat64())
		}
		return 0
	}
}

// lateBloomers are of two kinds. Seven in ten rise at once and saturate low, at A uniform in 0.45 to 0.65, as A − (A −
// 0.2)·exp(−s/τ) with τ in 5 to 20. The others hardly move at first and end high: on a logistic curve in log s from 0.2
// to A in 0.75 to 1, half-way at child number 40 to 250, log-uniformly. A child's score is normal about the curve with
// deviation 0.01, and cannot pass A.
func lateBloomers(r *rand.Rand) func(s int, best float64) float64 {
	late := r.Float64() < 0.3
	ceiling, middle, tau := between(r, 0.45, 0.65), scale(r, 40, 250), between(r, 5, 20)
	if late {
		ceiling = between(r, 0.75, 1)
	}
	return func(s int, best float64) float64 {
		rise := 1 - math.Exp(-float64(s)/tau)
		if late {
			q := middle / float64(s)
			rise = 1 / (1 + q*q*q)
		}
		return min(0.2+(ceiling-0.2)*rise+0.01*r.NormFloat64(), ceiling)
	}
}

// draws come from the arm's Gumbel distribution, of mode uniform in 0.3 to 0.5 and scale log-uniform in 0.01 to 0.06.
// The best so far rises as the logarithm of the number of children, and the arm with the widest tail wins, not the one
// with the best mean.
func draws(r *rand.Rand) func(s int, best float64) float64 {
	mode, width := between(r, 0.3, 0.5), scale(r, 0.01, 0.06)
	return func(int, float64) float64 { return mode - width*math.Log(r.ExpFloat64()) }
}

// staircase makes a step up with chance q by each child, log-uniform in 1/80 to 1/8 per arm. The height of a step is
// uniform in 0.02 to 0.08 per arm, and the ceiling in 0.6 to 1.
func staircase(r *rand.Rand) func(s int, best float64) float64 {
	rate, height, ceiling := scale(r, 1.0/80, 1.0/8), between(r, 0.02, 0.08), between(r, 0.6, 1)
	return func(s int, best float64) float64 {
		if r.Float64() >= rate {
			return 0
		}
		return min(best+height, ceiling)
	}
}

// lateJumps improve with chance 0.02 by each child, and close an exponential share, 0.01 on average, of the gap to 1.
// Half of the arms jump, at a child whose number is log-uniform in 30 to 3000, by the share uniform in 0.3 to 0.7 of
// the gap.
func lateJumps(r *rand.Rand) func(s int, best float64) float64 {
	at := math.MaxInt
	if r.Float64() < 0.5 {
		at = int(scale(r, 30, 3000))
	}
	jump := between(r, 0.3, 0.7)
	return func(s int, best float64) float64 {
		switch {
		case s == at:
			return best + (1-best)*jump
		case r.Float64() < 0.02:
			return best + (1-best)*min(1, 0.01*r.ExpFloat64())
		}
		return 0
	}
}

// nearTop improves with chance q by each child, log-uniform in 0.03 to 0.3 per arm, and closes an exponential share,
// 0.1 on average, of the gap to the arm's own top, which is 1 − 0.1·u² with u uniform in 0 to 1.
func nearTop(r *rand.Rand) func(s int, best float64) float64 {
	u, rate := r.Float64(), scale(r, 0.03, 0.3)
	top := 1 - 0.1*u*u
	return func(s int, best float64) float64 {
		if r.Float64() >= rate {
			return 0
		}
		return best + (top-best)*min(1, 0.1*r.ExpFloat64())
	}
}

// deadArms are dead with chance 0.7. The others improve with chance q by each child, log-uniform in 0.02 to 0.2 per
// arm, and close an exponential share, 0.02 on average, of the gap to 1.
func deadArms(r *rand.Rand) func(s int, best float64) float64 {
	dead, rate := r.Float64() < 0.7, scale(r, 0.02, 0.2)
	return func(s int, best float64) float64 {
		if dead || r.Float64() >= rate {
			return 0
		}
		return best + (1-best)*min(1, 0.02*r.ExpFloat64())
	}
}

// shrinkingNoise has scores normal about a slowly rising mean, 0.3 + q·ln(1 + s/10) with q uniform in 0.02 to 0.08 per
// arm, with a deviation of 0.15/√s. An early lucky child stays the best for long.
func shrinkingNoise(r *rand.Rand) func(s int, best float64) float64 {
	q := between(r, 0.02, 0.08)
	return func(s int, best float64) float64 {
		return 0.3 + q*math.Log1p(float64(s)/10) + 0.15/math.Sqrt(float64(s))*r.NormFloat64()
	}
}

// exchangeable improves with chance 0.05 by each child, and closes an exponential share, 0.01 on average, of the gap to
// 1. Whatever is given to a second arm is lost to the first.
func exchangeable(r *rand.Rand) func(s int, best float64) float64 {
	return func(s int, best float64) float64 {
		if r.Float64() >= 0.05 {
			return 0
		}
		return best + (1-best)*min(1, 0.01*r.ExpFloat64())
	}
}

// linear rises by v with every child, log-uniform in 0.0001 to 0.001 per arm. No arm slows down, which no other family
// has.
func linear(r *rand.Rand) func(s int, best float64) float64 {
	v := scale(r, 0.0001, 0.001)
	return func(s int, best float64) float64 { return min(v*float64(s), 1) }
}

// crossing has scores normal with deviation 0.01 about A·(1 − exp(−s/τ)), with τ log-uniform in 10 to 1000 per arm and
// A = 0.2 + 0.25·log₁₀(τ/10) + 0.3·u with u uniform in 0 to 1.
func crossing(r *rand.Rand) func(s int, best float64) float64 {
	tau := scale(r, 10, 1000)
	top := 0.2 + 0.25*math.Log10(tau/10) + 0.3*r.Float64()
	return func(s int, best float64) float64 {
		return top*(1-math.Exp(-float64(s)/tau)) + 0.01*r.NormFloat64()
	}
}

// ideas returns a family whose arms each tune an idea. A child has no score with the chance invalid, and repeats an
// earlier one with the chance 0.3. The first other child finds the idea, whose worth is min(1, 0.1 + 0.12·u^(−tail))
// with u uniform in 0 to 1, and comes up to 0.3 of the way there. Every second one that follows closes an exponential
// share, share on average, of the gap to the idea's worth. With the chance leap·(1 − best) a child draws another idea,
// and takes it if it is worth more.
func ideas(invalid, share, leap, tail float64) func(r *rand.Rand) func(s int, best float64) float64 {
	return func(r *rand.Rand) func(s int, best float64) float64 {
		worth := 0.0
		return func(s int, best float64) float64 {
			if r.Float64() < invalid || r.Float64() < 0.3 {
				return 0
			}
			if worth == 0 || r.Float64() < leap*(1-best) {
				if found := min(1, 0.1+0.12*math.Pow(1-r.Float64(), -tail)); found > worth {
					worth = found
					return best + (worth-best)*0.3*r.Float64()
				}
			}
			if r.Float64() < 0.5 {
				return best + (worth-best)*min(1, share*r.ExpFloat64())
			}
			return 0
		}
	}
}

// fastOrHigh are of two kinds. Six in ten improve with chance 0.3 by each child and close an exponential share, 0.08 on
// average, of the gap to a top that is uniform in 0.3 to 0.5. The others do so with chance 0.06 and a share of 0.06, to
// a top in 0.6 to 0.95.
func fastOrHigh(r *rand.Rand) func(s int, best float64) float64 {
	slow := r.Float64() < 0.4
	top, rate, share := between(r, 0.3, 0.5), 0.3, 0.08
	if slow {
		top, rate, share = between(r, 0.6, 0.95), 0.06, 0.06
	}
	return func(s int, best float64) float64 {
		if r.Float64() >= rate || best >= top {
			return 0
		}
		return best + (top-best)*min(1, share*r.ExpFloat64())
	}
}

// luck returns a family whose arms differ by luck alone. A child improves with chance rate, and closes the share min(1,
// share·u^(−tail)) of the gap to 1, u uniform.
func luck(rate, share, tail float64) func(r *rand.Rand) func(s int, best float64) float64 {
	return func(r *rand.Rand) func(s int, best float64) float64 {
		return func(s int, best float64) float64 {
			if r.Float64() >= rate {
				return 0
			}
			return best + (1-best)*min(1, share*math.Pow(1-r.Float64(), -tail))
		}
	}
}

// polish improves with chance 0.4 by each child, to 0.2 + A·(1 − (1 + s/3)^(−b)) with A log-uniform in 0.1 to 0.6 and b
// uniform in 0.05 to 0.3 per arm.
func polish(r *rand.Rand) func(s int, best float64) float64 {
	amplitude, b := scale(r, 0.1, 0.6), between(r, 0.05, 0.3)
	return func(s int, best float64) float64 {
		if r.Float64() < 0.6 {
			return 0
		}
		return min(1, 0.2+amplitude*(1-math.Pow(1+float64(s)/3, -b)))
	}
}

// between returns a number drawn uniformly from [lo, hi).
func between(r *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }

// scale returns a number in [lo, hi) whose logarithm is drawn uniformly.
func scale(r *rand.Rand, lo, hi float64) float64 { return lo * math.Pow(hi/lo, r.Float64()) }

// logNormal returns exp(sigma·z) with a standard normal z: a factor of median 1.
func logNormal(r *rand.Rand, sigma float64) float64 { return math.Exp(sigma * r.NormFloat64()) }
