//go:build unix

package python

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzHome sends a home what candidates may, in pieces, and wants the same of it as in one.
func FuzzHome(f *testing.F) {
	nonce := bytes.Repeat([]byte{7}, nonceSize)
	f.Add([]byte("R[1]"), 3, int32(1))
	f.Add([]byte("SSR{}"), 1, int32(2))
	f.Add(append(append([]byte("S"), nonce...), "Fx"...), 17, int32(1))
	f.Fuzz(func(t *testing.T, data []byte, cut int, other int32) {
		data = append(slices.Clone(nonce), data...)
		whole, parts := home{nonce: nonce}, home{nonce: nonce, attested: true}
		whole.take(data, 1)
		if cut < 1 || cut > len(data) {
			cut = 1
		}
		for part := range slices.Chunk(data, cut) {
			parts.take(part, 1)
			if other != 1 {
				parts.take(append(slices.Clone(nonce), "Rforged"...), other)
			}
		}
		h1, b1 := whole.message()
		h2, b2 := parts.message()
		if h1 != h2 || !bytes.Equal(b1, b2) || whole.stages != parts.stages {
			t.Errorf("in one: %v %q %d; in parts of %d: %v %q %d", h1, b1, whole.stages, cut, h2, b2, parts.stages)
		}
	})
}
