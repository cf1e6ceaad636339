package analysis

import (
	"math"

	"github.com/evoalloc/evoalloc/internal/bootstrap"
)

// fewestStudentized is the least number of pairs for which the spread of a sample tells something of its mean's error.
const fewestStudentized = 6

// studentized returns [Mean] of paired differences d with the interval of the bootstrap-t (B. Efron, R. J. Tibshirani,
// "An Introduction to the Bootstrap", 1993, section 12.5): with s the standard error of the mean,
//
//	s² = Σ vₖ/nₖ / S²    over the S strata, of nₖ differences with the variance vₖ
//
// and t* = (mean* − mean)/s* of a sample, the interval goes from mean − s·q(t*, 1−α/2) to mean − s·q(t*, α/2). It leans
// to the side where differences have their long tail, which percentiles do not, so it covers better for skewed gains.
// Samples without spread are left out. ok is false with fewer than 6 pairs, with a stratum of one, or if the
// differences or most of the samples have no spread. b is filled.
func (b Bootstrap) studentized(d Scores) (i Interval, ok bool) {
	center, width, ok := meanError(d)
	if !ok || !(width > 0) || d.runs() < fewestStudentized {
		return Interval{}, false
	}
	var all []float64
	sample := newSampler(d)
	b.each(d.sizes(), func(_ int, draw [][]int) {
		m, s, _ := meanError(sample.take(draw))
		if s > 1e-9*width { // less is rounding
			all = append(all, (m-center)/s)
		}
	})
	if 2*len(all) < b.Samples {
		return Interval{}, false
	}
	low, high := bootstrap.Percentiles(all, b.Level)
	return Interval{Value: center, Low: center - width*high, High: center - width*low}, true
}

// meanError returns the mean over strata of their means, and its standard error. ok is false if a stratum has fewer
// than two values.
func meanError(d Scores) (center, width float64, ok bool) {
	var variance float64
	for _, stratum := range d {
		if len(stratum) < 2 {
			return Mean(d), 0, false
		}
		m, squares := mean(stratum), 0.0
		for _, v := range stratum {
			squares += (v - m) * (v - m)
		}
		n := float64(len(stratum))
		variance += squares / (n - 1) / n
	}
	return Mean(d), math.Sqrt(variance) / float64(len(d)), true
}
