package evolve

import (
	"crypto/sha256"
	"encoding/binary"
)

// ChildSeed returns the seed that a child's request carries: the first four bytes, big endian, of
// SHA-256 over four big-endian uint32: the search's seed, the number N of children in a generation,
// the generation counted from 0 (one less than [Generation.Index]), and the child's index. A seed is
// addressed and not drawn, so no scheduling can change it, and a child that is made again alone has the
// same one. This is BaSE's derivation (arXiv 2605.29268).
func ChildSeed(seed uint32, n, generation, index int) uint32 {
	b := make([]byte, 0, 16)
	for _, v := range []uint32{seed, uint32(n), uint32(generation), uint32(index)} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint32(sum[:4])
}
