package pool

import "testing"

// Endpoints keep their prompts over a restart only if the hash is the same in every process: these
// values were printed by another.
func TestHashIsTheSameInEveryProcess(t *testing.T) {
	for _, tt := range []struct {
		parts []string
		want  uint64
	}{
		{nil, 14695981039346656037},
		{[]string{"user", "Improve the program."}, 11610650103980448354},
	} {
		if got := hashOf(tt.parts...); got != tt.want {
			t.Errorf("hash of %q is %d, want %d", tt.parts, got, tt.want)
		}
	}
}

func TestHashKeepsPartsApart(t *testing.T) {
	seen := map[uint64][]string{}
	for _, parts := range [][]string{
		{}, {""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"ab"}, {"a", "b"}, {"a\x00"}, {"\x00a"},
		{"12345678"}, {"12345678", ""}, {"12345678\x00"}, {"1234567", "8"}, {"123456781"}, {"12345678", "1"},
	} {
		h := hashOf(parts...)
		if other, ok := seen[h]; ok {
			t.Errorf("%q and %q have one hash", parts, other)
		}
		seen[h] = parts
	}
}
