package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Families returns the families of this package, each a *[formula] but for the last two, each a *[traced]. The arms of
//
//	heavy-tail     rise in jumps of very different size, ever more rarely
//	plateaus       stop for ever, seven in ten of them
//	breakthrough   are stuck at 0 until a child breaks through
//	late-bloomers  rise at once and end low, or late and end high
//	draws          do not learn: every child is an independent draw
//	linear         rise by the same amount with every child
//	crossing       have curves that cross: the faster an arm, the lower it ends
//	ideas          tune an idea each, of very different worth; one child in five is invalid
//	exchangeable   do not differ, and rise in jumps of like size
//	rare-luck      do not differ, and rise in rare jumps of very different size
//	gemini         are fitted to scores of two language models
//	gemini-digits  are those, scored by how many digits of the best known are right
//
// The constants of bandit.ExpectedImprovement and bandit.Challenge were chosen on most of them, so claims for these
// need other families.
func Families() []Family {
	var all []Family
	for _, f := range families {
		all = append(all, f)
	}
	return append(all, gemini, geminiDigits)
}

var gemini, geminiDigits = newGemini("gemini", false), newGemini("gemini-digits", true)

var families = []*formula{
	{"heavy-tail", 0.3, heavyTail},
	{"plateaus", 0.3, plateaus},
	{"breakthrough", 0, breakthrough},
	{"late-bloomers", 0.2, lateBloomers},
	{"draws", 0.3, draws},
	{"linear", 0, linear},
	{"crossing", 0, crossing},
	{"ideas", 0.1, ideas},
	{"exchangeable", 0.2, exchangeable},
	{"rare-luck", 0.1, rareLuck},
}

// Named returns the family of [Families] with a name. It panics if there is none.
func Named(name string) Family {
	all := Families()
	i := slices.IndexFunc(all, func(f Family) bool { return f.String() == name })
	if i < 0 {
		panic(fmt.Sprintf("sim: no family is named %q: names are those of Families", name))
	}
	return all[i]
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

// ideas tune an idea each. A child has no score with the chance 0.2, as one that is invalid, and repeats an earlier one
// with the chance 0.3. The first other child finds the idea, whose worth is min(1, 0.1 + 0.12·u^(−0.6)) with u uniform in
// 0 to 1, and comes up to 0.3 of the way there. Every second one that follows closes an exponential share, 0.05 on
// average, of the gap to the idea's worth.
func ideas(r *rand.Rand) func(s int, best float64) float64 {
	worth := 0.0
	return func(s int, best float64) float64 {
		switch {
		case r.Float64() < 0.2 || r.Float64() < 0.3:
			return 0
		case worth == 0:
			worth = min(1, 0.1+0.12*math.Pow(1-r.Float64(), -0.6))
			return best + (worth-best)*0.3*r.Float64()
		case r.Float64() < 0.5:
			return best + (worth-best)*min(1, 0.05*r.ExpFloat64())
		}
		return 0
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

// rareLuck has arms that differ by luck alone. A child improves with chance 0.03, and closes the share min(1,
// 0.01·u^(−0.7)) of the gap to 1, u uniform.
func rareLuck(r *rand.Rand) func(s int, best float64) float64 {
	return func(s int, best float64) float64 {
		if r.Float64() >= 0.03 {
			return 0
		}
		return best + (1-best)*min(1, 0.01*math.Pow(1-r.Float64(), -0.7))
	}
}

// between returns a number drawn uniformly from [lo, hi).
func between(r *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }

// scale returns a number in [lo, hi) whose logarithm is drawn uniformly.
func scale(r *rand.Rand, lo, hi float64) float64 { return lo * math.Pow(hi/lo, r.Float64()) }

// logNormal returns exp(sigma·z) with a standard normal z: a factor of median 1.
func logNormal(r *rand.Rand, sigma float64) float64 { return math.Exp(sigma * r.NormFloat64()) }
