package paper

import (
	"math"
	"math/big"
	"math/bits"
)

const (
	words  = 624 // of the generator's state
	middle = 397
	matrix = 0x9908b0df
	upper  = 0x80000000
	lower  = 0x7fffffff
)

// Random is CPython's random.Random: the Mersenne Twister MT19937 seeded as random.seed(int) does
// it, and the distributions made from it, as of CPython 3.11. It is not safe for concurrent use;
// use [NewRandom] or [NewRandomBig], as the zero value is not seeded.
//
// Sources: M. Matsumoto, T. Nishimura, "Mersenne Twister: A 623-dimensionally equidistributed
// uniform pseudo-random number generator", ACM TOMACS 8 (1998), with the initialisation by array of
// 2002; the documentation of Python's module random.
type Random struct {
	state [words]uint32
	next  int      // word of state to give out next; words means: make new ones
	gauss *float64 // the second of a pair of normal deviates, not given out yet
}

// NewRandom returns Python's random.Random(seed). The sign is lost, as it is there: seeds −7 and 7
// give the same stream.
func NewRandom(seed int64) *Random { return NewRandomBig(big.NewInt(seed)) }

// NewRandomBig is [NewRandom] for a seed of any size.
func NewRandomBig(seed *big.Int) *Random {
	var key []uint32
	mask, rest := big.NewInt(math.MaxUint32), new(big.Int).Abs(seed)
	for len(key) == 0 || rest.Sign() > 0 {
		key = append(key, uint32(new(big.Int).And(rest, mask).Uint64()))
		rest.Rsh(rest, 32)
	}
	r := &Random{next: words}
	r.seedArray(key)
	return r
}

// seedWord fills the state from one word (the reference's init_genrand).
func (r *Random) seedWord(seed uint32) {
	r.state[0] = seed
	for i := uint32(1); i < words; i++ {
		prev := r.state[i-1]
		r.state[i] = 1812433253*(prev^prev>>30) + i
	}
}

// seedArray fills the state from a key of words (the reference's init_by_array).
func (r *Random) seedArray(key []uint32) {
	r.seedWord(19650218)
	i, j := 1, 0
	for range max(words, len(key)) {
		r.state[i] = (r.state[i] ^ r.mixed(i)*1664525) + key[j] + uint32(j)
		i, j = r.after(i), (j+1)%len(key)
	}
	for range words - 1 {
		r.state[i] = (r.state[i] ^ r.mixed(i)*1566083941) - uint32(i)
		i = r.after(i)
	}
	r.state[0] = upper
}

func (r *Random) mixed(i int) uint32 { return r.state[i-1] ^ r.state[i-1]>>30 }

// after returns the place after i; past the last one it carries the last word over to the front.
func (r *Random) after(i int) int {
	if i++; i < words {
		return i
	}
	r.state[0] = r.state[words-1]
	return 1
}

// Uint32 returns the generator's next 32 bits.
func (r *Random) Uint32() uint32 {
	if r.next == words {
		r.twist()
	}
	y := r.state[r.next]
	r.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// twist makes the next words of the state.
func (r *Random) twist() {
	for i := range r.state {
		y := r.state[i]&upper | r.state[(i+1)%words]&lower
		r.state[i] = r.state[(i+middle)%words] ^ y>>1 ^ y&1*matrix
	}
	r.next = 0
}

// Bits returns Python's getrandbits(k). It panics unless k is in 1..64.
func (r *Random) Bits(k int) uint64 {
	must(k >= 1 && k <= 64, "Bits(%d): need 1 to 64", k)
	if k <= 32 {
		return uint64(r.Uint32() >> (32 - k))
	}
	low := uint64(r.Uint32()) // the words come lowest first
	return low | uint64(r.Uint32()>>(64-k))<<32
}

// Float64 returns Python's random(): a multiple of 2⁻⁵³ in [0, 1).
func (r *Random) Float64() float64 {
	a, b := r.Uint32()>>5, r.Uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}

// IntN returns Python's randrange(n), an integer in [0, n): the first of getrandbits draws, as wide as
// n, that is below n. It panics if n < 1.
func (r *Random) IntN(n int) int {
	must(n >= 1, "IntN(%d): need at least 1", n)
	k := bits.Len(uint(n))
	for {
		if v := r.Bits(k); v < uint64(n) {
			return int(v)
		}
	}
}

// Normal returns Python's gauss(mu, sigma). Deviates are made in pairs (Box and Muller),
//
//	cos(2π·u)·sqrt(−2·ln(1−v)) and sin(2π·u)·sqrt(−2·ln(1−v))
//
// of two uniform u, v, and the second is kept for the next call, whatever that call's mu and sigma.
//
// Python takes ln, cos and sin from the system's C library, which is free to err by an ulp; here they
// are rounded correctly, as glibc's are in all but one or two calls in a thousand.
func (r *Random) Normal(mu, sigma float64) float64 {
	z := r.gauss
	r.gauss = nil
	if z == nil {
		angle := r.Float64() * (2 * math.Pi)
		radius := math.Sqrt(-2 * logE(1-r.Float64()))
		first, second := cosE(angle)*radius, sinE(angle)*radius
		z, r.gauss = &first, &second
	}
	return mu + float64(*z*sigma)
}
