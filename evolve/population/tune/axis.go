package tune

import (
	"math"
	"slices"
)

// An axis says what a step does to one number. Steps are such that one of length 1 is a large change of any number: it
// takes one away to about a third or to three times its size.
type axis struct {
	n     number
	scale float64 // below this size a real number is moved by adding, so that it can change its sign
	fixed bool
}

// axesOf returns the axes of the numbers.
func axesOf(list []number) []axis {
	var sizes []float64
	for _, n := range list {
		if !n.Integer && n.Value != 0 {
			sizes = append(sizes, math.Abs(n.Value))
		}
	}
	typical := 1.0
	if slices.Sort(sizes); len(sizes) > 0 {
		typical = sizes[len(sizes)/2]
	}
	axes := make([]axis, len(list))
	for i, n := range list {
		axes[i] = axis{n: n, scale: typical / 10}
		if v := math.Abs(n.Value); v > 0 && v < typical/1e4 { // it is small for a reason, such as a tolerance
			axes[i].scale = v / 10
		}
		if n.Integer {
			axes[i].scale = 1
		}
	}
	return axes
}

// at returns the value of the number a step u from where it is: S·sinh(asinh(v/S) + u) with the scale S, which is
// about v·eᵘ for a v larger than S, and v + S·u for a smaller one. With bounds it is v·eᵘ or v + u·(Hi−Lo)/4, reflected
// at them.
func (a axis) at(u float64) float64 {
	v, n := a.n.Value, a.n
	switch {
	case a.fixed || u == 0:
		return v
	case n.Lo < n.Hi && n.Lo > 0 && n.Hi >= 10*n.Lo:
		lo, hi := math.Log(n.Lo), math.Log(n.Hi)
		v = math.Exp(reflect(math.Log(min(max(v, n.Lo), n.Hi))+u, lo, hi))
	case n.Lo < n.Hi:
		v = reflect(min(max(v, n.Lo), n.Hi)+u*(n.Hi-n.Lo)/4, n.Lo, n.Hi)
	default:
		v = a.free(u)
	}
	if n.Integer {
		v = math.Round(v)
	}
	if n.Lo < n.Hi {
		v = min(max(v, n.Lo), n.Hi)
		if n.Integer {
			v = min(max(v, math.Ceil(n.Lo)), math.Floor(n.Hi))
		}
	}
	return v
}

// most is how many times its size, or its scale, a number becomes at most.
const most = 1e6

// free returns the value of a number without bounds. An integer keeps its sign, as those that count things do.
func (a axis) free(u float64) float64 {
	v := a.n.Value
	bound := most * max(math.Abs(v), a.scale)
	x := a.scale * math.Sinh(math.Asinh(v/a.scale)+u)
	x = min(max(x, -bound), bound)
	if !a.n.Integer {
		return x
	}
	x = min(max(x, -1<<53), 1<<53)
	switch {
	case v > 0:
		return max(x, 1)
	case v < 0:
		return min(x, -1)
	}
	return x
}

// reflect folds x into lo..hi.
func reflect(x, lo, hi float64) float64 {
	width := hi - lo
	x = math.Mod(x-lo, 2*width)
	if x < 0 {
		x += 2 * width
	}
	if x > width {
		x = 2*width - x
	}
	return lo + x
}
