package analysis

import "slices"

// Improvement returns the probability of improvement: how likely a run of x is better than a run of y of the same
// stratum,
//
//	mean over strata of (1/nm) Σᵢ Σⱼ ([xᵢ > yⱼ] + ½·[xᵢ = yⱼ])
//
// with n runs of x and m of y in the stratum (Agarwal et al., 2021, section 4.3; the Mann–Whitney statistic). ½ means
// that neither is better. It ignores by how much. It is NaN without strata; x and y have the same ones.
func Improvement(x, y Scores) float64 {
	sum := 0.0
	for s := range x {
		sum += improvement(x[s], y[s])
	}
	return sum / float64(len(x))
}

// improvement is Improvement in one stratum. It sorts y and looks each x up, so a bootstrap of many runs is quick.
func improvement(x, y []float64) float64 {
	sorted := slices.Sorted(slices.Values(y))
	wins := 0.0
	for _, v := range x {
		below, tied := slices.BinarySearch(sorted, v)
		wins += float64(below)
		for i := below; tied && i < len(sorted) && sorted[i] == v; i++ {
			wins += 0.5
		}
	}
	return wins / (float64(len(x)) * float64(len(y)))
}
