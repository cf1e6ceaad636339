package analysis

import (
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/internal/stream"
)

// SignFlip returns the two-sided p-value of the hypothesis that paired differences are symmetric about 0, by a
// randomisation test (R. A. Fisher, "The Design of Experiments", 1935, section 21): each difference is then as likely
// as its negative. That holds if the methods do not differ. It does not hold for every difference whose mean is 0: of
// log-normal ones, in ten pairs, 13 in 100 tests reject at 0.05. Whether the mean differs is what the interval of
// [Bootstrap.Paired] tells. Over random signs SignFlip compares |[Mean]| of the differences with that of the data:
//
//	p = (1 + number of sign assignments at least as extreme) / (1 + flips)
//
// Under its hypothesis this p is valid whatever the distribution (B. Phipson, G. K. Smyth, "Permutation P-values Should
// Never Be Zero", 2010), and is never below 1/(1+flips): tests that [Holm] corrects need flips well above their number
// over the level. With n pairs it is seldom below 2/2ⁿ, so fewer than six pairs cannot reach 0.05. The signs of
// assignment i are drawn from the stream at (seed, "signs", i). It returns an error unless x and y have the same shape
// and finite scores, or if flips is below 1.
func SignFlip(x, y Scores, flips int, seed uint64) (p float64, err error) {
	if err := validatePair(x, y, true); err != nil {
		return 0, err
	}
	if flips < 1 {
		return 0, fmt.Errorf("analysis: SignFlip with %d flips: need at least 1, better 10,000", flips)
	}
	d := x.minus(y)
	signed := x.minus(y) // for the shape
	extreme, scale := math.Abs(Mean(d)), 0.0
	for _, stratum := range d {
		for _, v := range stratum {
			scale = max(scale, math.Abs(v))
		}
	}
	extreme -= 1e-12 * scale // sums in another order are off in the last digits, and a tie counts
	count := 1
	for i := range flips {
		r := stream.New(seed, "signs", uint64(i))
		for s, stratum := range d {
			for j, v := range stratum {
				if r.Uint64()&1 == 0 {
					v = -v
				}
				signed[s][j] = v
			}
		}
		if math.Abs(Mean(signed)) >= extreme {
			count++
		}
	}
	return float64(count) / float64(1+flips), nil
}
