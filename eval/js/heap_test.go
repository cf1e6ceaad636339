package js

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// check walks all blocks of h and fails if they do not tile the heap, if two free ones are
// neighbours, or if the lists do not hold exactly the free ones.
func check(t testing.TB, h *heap, start uint64) {
	t.Helper()
	free := map[uint64]bool{}
	var prev uint64
	for p := start; p != h.top; {
		b := blockAt(p)
		size := b.size &^ isFree
		if size < smallest || size%align != 0 || p+size > h.top || b.prev != prev {
			t.Fatalf("block at %d: size %d, prev %d (want %d), top %d", p-start, size, b.prev, prev, h.top-start)
		}
		if b.size&isFree != 0 {
			if free[prev] || p+size == h.top {
				t.Fatalf("free block at %d was not joined", p-start)
			}
			free[p] = true
		}
		prev, p = p, p+size
	}
	if h.last != prev {
		t.Fatalf("last is %d, want %d", h.last, prev)
	}
	listed := 0
	for fl := range h.free {
		if (h.fl>>fl&1 != 0) != (h.sl[fl] != 0) {
			t.Fatalf("class %d: bitmaps disagree", fl)
		}
		for sl, p := range h.free[fl] {
			if (h.sl[fl]>>sl&1 != 0) != (p != 0) {
				t.Fatalf("class %d, %d: bitmap and list disagree", fl, sl)
			}
			for back := uint64(0); p != 0; back, p = p, blockAt(p).next {
				b := blockAt(p)
				gotFL, gotSL := class(b.size &^ isFree)
				if !free[p] || gotFL != fl || gotSL != sl || b.back != back {
					t.Fatalf("block at %d is on the wrong list", p-start)
				}
				listed++
			}
		}
	}
	if listed != len(free) {
		t.Fatalf("%d free blocks on lists, want %d", listed, len(free))
	}
}

// A piece is memory that a test holds, and what it wrote there.
type piece struct {
	addr uint64
	want []byte
}

// exercise allocates, resizes and frees at random and checks that no piece loses what is in it.
func exercise(t testing.TB, h *heap, rng *rand.Rand, steps int, deep func()) {
	var held []piece
	verify := func(p piece) {
		if !bytes.Equal(h.bytes(p.addr, uint64(len(p.want))), p.want) {
			t.Fatal("memory changed under its holder")
		}
	}
	write := func(p *piece, n int) {
		p.want = make([]byte, n)
		for i := range p.want {
			p.want[i] = byte(rng.Uint32())
		}
		copy(h.bytes(p.addr, uint64(n)), p.want)
	}
	size := func() int { return rng.IntN(1 << (1 + rng.IntN(13))) }
	for range steps {
		switch k := rng.IntN(8); {
		case k < 3 || len(held) == 0:
			n := size()
			if addr := h.alloc(uint64(n)); addr != 0 {
				if addr%align != 0 {
					t.Fatalf("address %d is not aligned", addr)
				}
				p := piece{addr: addr}
				write(&p, n)
				held = append(held, p)
			}
		case k < 5:
			i := rng.IntN(len(held))
			p, n := &held[i], size()
			addr := h.resize(p.addr, uint64(n))
			if addr == 0 {
				verify(*p)
				break
			}
			keep := min(n, len(p.want))
			verify(piece{addr, p.want[:keep]})
			p.addr = addr
			write(p, n)
		default:
			i := rng.IntN(len(held))
			verify(held[i])
			h.release(held[i].addr)
			held[i] = held[len(held)-1]
			held = held[:len(held)-1]
		}
		deep()
	}
	for _, p := range held {
		verify(p)
		h.release(p.addr)
	}
}

func newTestHeap(t testing.TB, n int) *heap {
	mem, err := reserve(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unreserve(mem); err != nil {
			t.Error(err)
		}
	})
	return newHeap(mem)
}

func TestHeap(t *testing.T) {
	for _, c := range []struct {
		why   string
		bytes int
	}{
		{"ample", 16 << 20},
		{"crowded, so that requests are refused", 24 << 10},
	} {
		t.Run(c.why, func(t *testing.T) {
			h := newTestHeap(t, c.bytes)
			start := h.top
			exercise(t, h, rand.New(rand.NewPCG(1, 2)), 3000, func() { check(t, h, start) })
			check(t, h, start)
			if h.top != start {
				t.Errorf("%d bytes are lost", h.top-start)
			}
			if c.bytes < 1<<20 && h.denied == 0 {
				t.Error("nothing was refused")
			}
		})
	}
}

func TestHeapRefuses(t *testing.T) {
	h := newTestHeap(t, 1<<20)
	start := h.top
	p := h.alloc(100)
	for _, n := range []uint64{1 << 20, 1 << 40, 1 << 63, 1<<64 - 1, 1<<64 - 17} {
		if got := h.alloc(n); got != 0 {
			t.Errorf("alloc(%d) = %d", n, got)
		}
		if got := h.resize(p, n); got != 0 {
			t.Errorf("resize to %d = %d", n, got)
		}
	}
	if all := h.end - h.top - header; h.alloc(all) == 0 {
		t.Error("the rest of the heap was refused")
	}
	if h.alloc(1) != 0 {
		t.Error("a full heap gave more")
	}
	check(t, h, start)
}

func FuzzHeap(f *testing.F) {
	f.Add(uint64(1), uint64(100), 1<<17)
	f.Fuzz(func(t *testing.T, seed, steps uint64, size int) {
		h := newTestHeap(t, 16<<10+size&(1<<20-1))
		start := h.top
		exercise(t, h, rand.New(rand.NewPCG(seed, 0)), int(steps%500), func() {})
		check(t, h, start)
		if h.top != start {
			t.Errorf("%d bytes are lost", h.top-start)
		}
	})
}
