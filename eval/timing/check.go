package timing

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// equal is a check that every byte equals the baseline's.
func equal(_, want, got []byte) error {
	if bytes.Equal(want, got) {
		return nil
	}
	at := 0
	for want[at] == got[at] {
		at++
	}
	return fmt.Errorf("byte %d of %d is %d: want %d", at, len(want), got[at], want[at])
}

// Close returns a check of float64 numbers, little endian: |got - want| ≤ abs + rel·|want| for each. NaN is close to
// NaN, and an infinity to itself.
func Close(rel, abs float64) func(input, want, got []byte) error {
	return func(_, want, got []byte) error {
		for i := 0; i+8 <= len(want); i += 8 {
			w, g := binary.LittleEndian.Uint64(want[i:]), binary.LittleEndian.Uint64(got[i:])
			if w == g {
				continue
			}
			x, y := math.Float64frombits(w), math.Float64frombits(g)
			if !(math.Abs(x-y) <= abs+rel*math.Abs(x)) && !(math.IsNaN(x) && math.IsNaN(y)) || math.IsInf(x, 0) {
				return fmt.Errorf("number %d of %d is %v: want %v", i/8, len(want)/8, y, x)
			}
		}
		return nil
	}
}

// Floats returns numbers as the bytes of an input, little endian.
func Floats(xs []float64) []byte {
	b := make([]byte, 0, 8*len(xs))
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// Ints returns numbers as the bytes of an input, little endian, eight bytes each.
func Ints(xs []int) []byte {
	b := make([]byte, 0, 8*len(xs))
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}
