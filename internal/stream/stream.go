// Package stream derives independent random streams from an address: (seed, name, index). Nothing
// is drawn in passing, so that neither scheduling nor a stream used more or less elsewhere can
// change what another one gives.
package stream

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Seed returns the two words that seed the stream at (seed, name, index): the first sixteen bytes,
// big endian, of SHA-256 over seed, index (both big-endian uint64) and name. It does not allocate
// for names of up to 48 bytes.
func Seed(seed uint64, name string, index uint64) (uint64, uint64) {
	var buf [64]byte
	b := binary.BigEndian.AppendUint64(buf[:0], seed)
	b = binary.BigEndian.AppendUint64(b, index)
	b = append(b, name...)
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])
}

// New returns the generator at (seed, name, index).
func New(seed uint64, name string, index uint64) *rand.Rand {
	return rand.New(rand.NewPCG(Seed(seed, name, index)))
}
