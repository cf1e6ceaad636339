// Package argmax works out how likely each of several independent draws is to be the largest. That chance is
// what Thompson sampling pulls an arm with.
//
// With densities f_i and distribution functions F_i, the chance of draw i is
//
//	p_i = ∫ f_i(x)·Π_{j≠i} F_j(x) dx = ∫ F(x)·f_i(x)/F_i(x) dx,  F = Π F_j
//
// The second form has one product for all draws, so one sweep over x serves them all. [Normal] does that for
// normal draws. It integrates numerically, to 1e-10: estimating the same by sampling would take some 10²⁰ draws.
//
// The sweep goes downwards from where no draw reaches. F(x) is the chance that the largest draw is below x, so
// it is exactly what is left to share out, and the sweep ends when F is negligible.
package argmax

import "math"

// power returns xⁿ. It is quick for n = 1, which is most groups.
func power(x, n float64) float64 {
	if n == 1 {
		return x
	}
	return math.Pow(x, n)
}
