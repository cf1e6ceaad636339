package analysis

import (
	"cmp"
	"slices"
)

// Holm returns p-values of m tests adjusted so that rejecting those at most α keeps the chance of any false rejection
// at most α, however the tests depend on each other: with p₍₁₎ ≤ … ≤ p₍ₘ₎,
//
//	adjusted p₍ᵢ₎ = max over j ≤ i of min(1, (m − j + 1)·p₍ⱼ₎)
//
// (S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6, 1979.)
// The result is in the order of p.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted, highest := make([]float64, len(p)), 0.0
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = highest
	}
	return adjusted
}
