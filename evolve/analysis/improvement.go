package analysis

import "slices"

// improvement returns the probability of improvement: how likely a run of x is better than a run of y of the same
// stratum,
//
//	mean over strata of (1/nm) Σᵢ Σⱼ ([xᵢ > yⱼ] + ½·[xᵢ = yⱼ])
//
// with n runs of x and m of y in the stratum (Agarwal et al., 2021, section 4.3; the Mann–Whitney statistic). ½ means
// that neither is better. It ignores by how much. It is NaN without strata; x and y have the same ones.
func improvement(x, y Scores) float64 {
	sum := 0.0
	for s := range x {
		sum += shareAbove(x[s], y[s])
	}
	return sum / float64(len(x))
}

// shareAbove is improvement in one stratum. It sorts both and goes through them side by side, so a bootstrap of many
// runs is quick.
func shareAbove(x, y []float64) float64 {
	x, y = ascending(x), ascending(y)
	wins := 0.0
	below, upTo := 0, 0 // how many of y are below v, and at most v
	for _, v := range x {
		for below < len(y) && y[below] < v {
			below++
		}
		for upTo < len(y) && y[upTo] <= v {
			upTo++
		}
		wins += float64(below) + 0.5*float64(upTo-below)
	}
	return wins / (float64(len(x)) * float64(len(y)))
}

// ascending returns the values in ascending order, which may be the argument.
func ascending(values []float64) []float64 {
	if slices.IsSorted(values) {
		return values
	}
	return slices.Sorted(slices.Values(values))
}
