package landscape

import (
	"math"
	"math/rand/v2"
)

// A Law is how noise is distributed. Each has mean 0 and standard deviation 1.
type Law string

const (
	Normal   Law = "normal"
	T3       Law = "t3"        // Student's t with three degrees of freedom: tails on both sides
	OneSided Law = "one-sided" // a log-normal of sigma 1 turned round: a tail below, as timings have when others work
	// normal, and one in ten three times as wide and drawn down by three: now and then something else runs
	Mixed Law = "mixed"
)

// Laws returns all.
func Laws() []Law { return []Law{Normal, T3, OneSided, Mixed} }

func (l Law) draw(r *rand.Rand) float64 {
	switch l {
	case T3:
		z := r.NormFloat64()
		var squares float64
		for range 3 {
			v := r.NormFloat64()
			squares += v * v
		}
		return z / math.Sqrt(squares) // a t3 is √3 times this, and its variance 3
	case OneSided:
		return (logNormalMean - math.Exp(r.NormFloat64())) / logNormalSD
	case Mixed:
		// The mean is −0.3, the variance 0.9·1 + 0.1·9 + 0.09·9.
		z, outlier := r.NormFloat64(), r.Float64() < 0.1
		if outlier {
			z = 3*z - 3
		}
		return (z + 0.3) / math.Sqrt(0.9+0.9+0.81)
	}
	return r.NormFloat64()
}

// Of a log-normal of sigma 1.
var (
	logNormalMean = math.Exp(0.5)
	logNormalSD   = math.Sqrt((math.E - 1) * math.E)
)

func (l Law) median() float64 {
	switch l {
	case OneSided:
		return (logNormalMean - 1) / logNormalSD
	case Mixed:
		return 0.12808 // where 0.9·Φ(x) + 0.1·Φ((x + 3)/3) = 1/2, moved and scaled as above
	}
	return 0
}
