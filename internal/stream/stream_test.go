package stream_test

import (
	"testing"

	"github.com/evoalloc/evoalloc/internal/stream"
)

// The wanted words were computed with Python's hashlib from the definition in Seed's comment.
// Results of earlier runs rest on them.
func TestSeed(t *testing.T) {
	for _, tt := range []struct {
		reason string
		seed   uint64
		name   string
		index  uint64
		a, b   uint64
	}{
		{"the first draw of a run without a seed", 0, "draw", 0, 0x888aba683ebcd83a, 0x77a8e02f008d4763},
		{"all three parts used", 40, "draw", 7, 0x185343092589566f, 0xa3e1e1f070c4f2b3},
		{"the high bits count", 1<<64 - 1, "pick", 1 << 63, 0x308dce146dd73ea, 0x46f3b8ca631642ce},
		{"no name", 1, "", 0, 0x783825822a6f9e62, 0xda2190e828e4c9d2},
	} {
		if a, b := stream.Seed(tt.seed, tt.name, tt.index); a != tt.a || b != tt.b {
			t.Errorf("%s: Seed(%d, %q, %d) = %#x, %#x, want %#x, %#x", tt.reason, tt.seed, tt.name, tt.index, a, b, tt.a, tt.b)
		}
	}
}

// Neighbors in any part of the address, and parts swapped, give different streams.
func TestSeedTellsAddressesApart(t *testing.T) {
	type words struct{ a, b uint64 }
	seen := map[words]string{}
	for seed := range uint64(20) {
		for index := range uint64(20) {
			for _, name := range []string{"", "a", "b", "ab", "a\x00", "draw", "pick"} {
				a, b := stream.Seed(seed, name, index)
				if other, ok := seen[words{a, b}]; ok {
					t.Fatalf("(%d, %q, %d) has the words of %s", seed, name, index, other)
				}
				seen[words{a, b}] = name
			}
		}
	}
}

func TestNewRepeats(t *testing.T) {
	first, again, other := stream.New(1, "draw", 2), stream.New(1, "draw", 2), stream.New(1, "draw", 3)
	same := 0
	for range 100 {
		v := first.Uint64()
		if w := again.Uint64(); w != v {
			t.Fatalf("the same address gave %d and %d", v, w)
		}
		if other.Uint64() == v {
			same++
		}
	}
	if same > 0 {
		t.Errorf("two addresses shared %d of 100 words", same)
	}
}

func TestSeedDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { stream.Seed(1, "draw", 2) }); n != 0 {
		t.Errorf("Seed made %v allocations", n)
	}
}
