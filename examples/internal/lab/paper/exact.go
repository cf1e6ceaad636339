package paper

import (
	"fmt"
	"math"
	"math/big"
)

// Package math differs from the C library that Python calls in the last bit of every tenth logarithm
// or sine, enough to change a draw. The functions here are worked out to precision bits and rounded
// once, so they are as right as a float64 can be, on any machine.

const (
	precision = 192 // bits of arguments: one that loses 60 when it is reduced still has plenty
	enough    = 112 // bits of sums: a chance of some 2⁻⁵⁶ to round wrongly
	piDigits  = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803"
	ln2Digits = "0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560587"
)

func real(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func constant(digits string) *big.Float {
	f, _, err := big.ParseFloat(digits, 10, precision, big.ToNearestEven)
	must(err == nil, "constant %q: %v", digits, err)
	return f
}

func rounded(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// series adds up first and then the further terms, until one is too small to count. Term k = 1, 2, ... is the
// one before times y·num/den, with num and den given by ratio(k).
func series(first, y *big.Float, ratio func(k int) (num, den int)) *big.Float {
	term := new(big.Float).SetPrec(enough).Set(first)
	y = new(big.Float).SetPrec(enough).Set(y)
	sum, factor := new(big.Float).Copy(term), new(big.Float)
	for k := 1; term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-enough; k++ {
		num, den := ratio(k)
		term.Mul(term, y)
		if num != 1 {
			term.Mul(term, factor.SetInt64(int64(num)))
		}
		term.Quo(term, factor.SetInt64(int64(den)))
		sum.Add(sum, term)
	}
	return sum
}

// logE returns ln x for a finite x > 0: with x = m·2ᵉ, 2·artanh((m−1)/(m+1)) + e·ln 2.
func logE(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := new(big.Float).Quo(new(big.Float).Sub(real(m), real(1)), new(big.Float).Add(real(m), real(1)))
	sum := series(s, new(big.Float).Mul(s, s), func(k int) (int, int) { return 2*k - 1, 2*k + 1 })
	sum.SetMantExp(sum, 1)
	shift := new(big.Float).Mul(real(float64(e)), constant(ln2Digits))
	return rounded(sum.Add(sum, shift))
}

// expE returns eˣ for a finite x, +Inf if it is too large: with x = k·ln 2 + r, 2ᵏ·eʳ.
func expE(x float64) float64 {
	k := math.Round(x / math.Ln2)
	switch {
	case k > 2000:
		return math.Inf(1)
	case k < -2000:
		return 0
	}
	r := new(big.Float).Mul(real(k), constant(ln2Digits))
	r.Sub(real(x), r)
	sum := series(real(1), r, func(k int) (int, int) { return 1, k })
	return rounded(sum.SetMantExp(sum, int(k)))
}

func sinE(x float64) float64 { return sinQuarter(x, 0) }

func cosE(x float64) float64 { return sinQuarter(x, 1) }

// sinQuarter returns sin(x + quarter·π/2) for |x| up to some thousands. It takes away the multiple of
// π/2 next to x, and the rest's sine or cosine is a short series.
func sinQuarter(x float64, quarter int) float64 {
	k := math.Round(x / (math.Pi / 2))
	r := new(big.Float).Mul(real(k/2), constant(piDigits))
	r.Sub(real(x), r)
	y := new(big.Float).Mul(r, r)
	y.Neg(y)
	turn := (int(k) + quarter) & 3
	var sum *big.Float
	if turn%2 == 0 {
		sum = series(r, y, func(k int) (int, int) { return 1, 2 * k * (2*k + 1) })
	} else {
		sum = series(real(1), y, func(k int) (int, int) { return 1, (2*k - 1) * 2 * k })
	}
	if turn >= 2 {
		sum.Neg(sum)
	}
	return rounded(sum)
}

// must panics unless ok. A wrong argument is the programmer's mistake.
func must(ok bool, format string, args ...any) {
	if !ok {
		panic("paper: " + fmt.Sprintf(format, args...))
	}
}
