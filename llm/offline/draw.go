package offline

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/llm"
)

// source returns the stream of random numbers that req's seed and messages address.
func source(req llm.Request) *rand.Rand {
	h := sha256.New()
	h.Write([]byte("evoalloc/llm/offline 1"))
	h.Write(binary.BigEndian.AppendUint32(nil, req.Seed))
	for _, m := range req.Messages {
		for _, s := range []string{m.Role, m.Content} {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
			h.Write([]byte(s))
		}
	}
	var seed [32]byte
	h.Sum(seed[:0])
	return rand.New(rand.NewChaCha8(seed))
}

// A draw is where the numbers of an edit come from.
type draw struct{ *rand.Rand }

// chance is true with probability p.
func (d draw) chance(p float64) bool { return d.Float64() < p }

// between is uniform on [lo, hi).
func (d draw) between(lo, hi float64) float64 { return lo + (hi-lo)*d.Float64() }

// scale is 10^-u for u uniform on [0, decades): every order of magnitude is as likely as another.
func (d draw) scale(decades float64) float64 { return math.Pow(10, -decades*d.Float64()) }

// cauchy is standard Cauchy, cut at 20 to either side.
func (d draw) cauchy() float64 {
	return min(max(math.Tan(math.Pi*(d.Float64()-0.5)), -20), 20)
}

// sign is 1 or -1.
func (d draw) sign() float64 { return float64(2*d.IntN(2) - 1) }

// jump is a whole number of at least 1, each next half as likely.
func (d draw) jump() float64 { return 1 + math.Floor(d.ExpFloat64()/math.Ln2) }

// size says how many of n numbers to change: one in half of all draws, all in a tenth, and otherwise
// more than k with chance 1/(k-1), from two on.
func (d draw) size(n int) int {
	switch u := d.Float64(); {
	case u < 0.5:
		return 1
	case u < 0.6:
		return n
	}
	return int(min(1+1/(1-d.Float64()), float64(n)))
}
