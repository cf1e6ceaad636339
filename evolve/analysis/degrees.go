package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// expanded returns the level at which percentiles make an interval of the given level, for an estimate whose variance
// is known from df degrees of freedom: 1 − 2Φ(−t), where t is the (1+level)/2 quantile of Student's distribution.
// Plain percentiles would be those of a known variance (T. C. Hesterberg, "What Teachers Should Know About the
// Bootstrap", The American Statistician 69, 2015). Without a finite df it is level.
func expanded(level, df float64) float64 {
	if !finite(df) || df <= 0 {
		return level
	}
	t := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile((1 + level) / 2)
	return 1 - 2*distuv.UnitNormal.CDF(-t)
}

// degrees returns the degrees of freedom of the variance of each number that f writes, by F. E. Satterthwaite, "An
// Approximate Distribution of Estimates of Variance Components", 1946:
//
//	(Σ vₛ)² / Σ (vₛ²/(nₛ−1))
//
// vₛ is the part of stratum s, by the jackknife: (nₛ−1)/nₛ · Σᵢ (θ without unit i − their mean)². If
// all strata contribute equally, that is the number of units less that of strata; if only one contributes, one less
// than its units. It is NaN for a number that does not vary.
func degrees(sizes []int, width int, f func(draw [][]int, into []float64)) []float64 {
	draw := make([][]int, len(sizes))
	for s, n := range sizes {
		draw[s] = without(n, n)
	}
	sum, squares := make([]float64, width), make([]float64, width)
	for s, n := range sizes {
		whole := draw[s]
		left := make([][]float64, n) // what f writes without unit i
		for i := range n {
			draw[s], left[i] = without(n, i), make([]float64, width)
			f(draw, left[i])
		}
		draw[s] = whole
		for k := range width {
			v := jackknife(left, k)
			sum[k] += v
			squares[k] += v * v / float64(n-1)
		}
	}
	for k := range width {
		sum[k] = sum[k] * sum[k] / squares[k]
	}
	return sum
}

// without returns 0, 1, ..., n−1 without one of them.
func without(n, one int) []int {
	all := make([]int, 0, n)
	for i := range n {
		if i != one {
			all = append(all, i)
		}
	}
	return all
}

// jackknife returns (n−1)/n times the sum of squares of column k about its mean.
func jackknife(rows [][]float64, k int) float64 {
	n, middle, sum := float64(len(rows)), 0.0, 0.0
	for _, row := range rows {
		middle += row[k] / n
	}
	for _, row := range rows {
		sum += math.Pow(row[k]-middle, 2)
	}
	return (n - 1) / n * sum
}
