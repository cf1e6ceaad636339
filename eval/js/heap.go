package js

import (
	"math/bits"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// A heap is the memory of one virtual machine: one mapping, handed out in blocks. It is a two-level
// segregated fit allocator (Masmano, Ripoll, Crespo and Real, "TLSF: a new dynamic memory allocator
// for real-time systems", ECRTS 2004), so allocating and freeing take constant time and freed
// neighbours become one block again.
//
// Its own state lies at the start of the mapping. A copy of the mapping up to top is therefore a
// copy of the whole machine, and writing that copy back undoes whatever a program did to it.
//
// A heap refers to memory outside Go's, by address.
type heap struct {
	top    uint64 // end of the last block; everything above is untouched or garbage
	end    uint64 // end of the mapping, or of the program's share of it
	peak   uint64 // highest top ever
	last   uint64 // the block that ends at top; 0 if there is none
	denied uint64 // allocations refused
	fl     uint64 // bit i is set if sl[i] is not 0
	sl     [64]uint8
	free   [64][slots]uint64 // heads of the lists of free blocks, by size class
}

// A block is the header of every piece of memory handed out.
type block struct {
	prev uint64 // the block before this one in memory; 0 for the first
	size uint64 // in bytes with this header, a multiple of align; its lowest bit is set if the block is free
	next uint64 // while free: the next block of the same class
	back uint64 // while free: the previous block of the same class
}

const (
	align    = 16
	header   = 16 // prev and size; next and back lie in the memory handed out
	smallest = 32 // a block must hold next and back once it is free
	slots    = 8  // size classes for each power of two
	isFree   = 1
	absurd   = 1 << 40 // more than any heap has, and small enough to be rounded up
)

// newHeap sets up a heap in mem, which must be zero and stay where it is.
func newHeap(mem []byte) *heap {
	base := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	h := heapAt(base)
	h.top = uint64(base) + (uint64(unsafe.Sizeof(heap{}))+align-1)&^(align-1)
	h.end = uint64(base) + uint64(len(mem))
	h.peak = h.top
	return h
}

// openReserve makes all n bytes of the mapping available.
func (h *heap) openReserve(n int) { h.end = uint64(uintptr(unsafe.Pointer(h))) + uint64(n) }

func heapAt(p uintptr) *heap { return (*heap)(unsafe.Add(nil, p)) }
func blockAt(p uint64) *block {
	return (*block)(unsafe.Add(nil, uintptr(p)))
}

// class returns the lists that hold free blocks of the given size.
func class(size uint64) (fl, sl int) {
	fl = bits.Len64(size) - 1
	return fl, int(size>>(fl-3)) & (slots - 1)
}

// take unlinks and returns a free block of at least size bytes, or returns 0.
func (h *heap) take(size uint64) uint64 {
	// Round up to the next class, so that the first block of any list is large enough.
	fl, sl := class(size + 1<<(bits.Len64(size)-4) - 1)
	if m := h.sl[fl] >> sl << sl; m != 0 {
		sl = bits.TrailingZeros8(m)
	} else if rest := h.fl >> (fl + 1) << (fl + 1); rest != 0 {
		fl = bits.TrailingZeros64(rest)
		sl = bits.TrailingZeros8(h.sl[fl])
	} else {
		return 0
	}
	p := h.free[fl][sl]
	h.unlink(p)
	return p
}

// link puts the block at p on the free list of its class.
func (h *heap) link(p uint64) {
	b := blockAt(p)
	fl, sl := class(b.size)
	b.size |= isFree
	b.back, b.next = 0, h.free[fl][sl]
	if b.next != 0 {
		blockAt(b.next).back = p
	}
	h.free[fl][sl] = p
	h.sl[fl] |= 1 << sl
	h.fl |= 1 << fl
}

// unlink takes the free block at p off its list.
func (h *heap) unlink(p uint64) {
	b := blockAt(p)
	b.size &^= isFree
	fl, sl := class(b.size)
	if b.next != 0 {
		blockAt(b.next).back = b.back
	}
	if b.back != 0 {
		blockAt(b.back).next = b.next
		return
	}
	h.free[fl][sl] = b.next
	if b.next == 0 {
		if h.sl[fl] &^= 1 << sl; h.sl[fl] == 0 {
			h.fl &^= 1 << fl
		}
	}
}

// blockSize is the size of a block with room for n bytes.
func blockSize(n uint64) uint64 { return max(smallest, (n+header+align-1)&^(align-1)) }

// alloc returns the address of n bytes, not cleared, or 0 if there is no room.
func (h *heap) alloc(n uint64) uint64 {
	size := blockSize(min(n, absurd))
	p := h.take(size)
	switch {
	case p != 0:
		h.trim(p, size)
	case h.top+size <= h.end:
		p = h.top
		*blockAt(p) = block{prev: h.last, size: size}
		h.last = p
		h.grow(size)
	default:
		h.denied++
		return 0
	}
	return p + header
}

// grow moves top up by n bytes.
func (h *heap) grow(n uint64) {
	h.top += n
	h.peak = max(h.peak, h.top)
}

// trim cuts the block at p down to size and frees the rest, if the rest can be a block.
func (h *heap) trim(p, size uint64) {
	b := blockAt(p)
	if b.size < size+smallest {
		return
	}
	q := p + size
	*blockAt(q) = block{prev: p, size: b.size - size}
	b.size = size
	if next := q + blockAt(q).size; next == h.top {
		h.last = q
	} else {
		blockAt(next).prev = q
	}
	h.release(q + header)
}

// release frees what alloc returned, joining it with free neighbours.
func (h *heap) release(addr uint64) {
	p := addr - header
	b := blockAt(p)
	if next := p + b.size; next != h.top && blockAt(next).size&isFree != 0 {
		h.join(p, next)
	}
	if b.prev != 0 && blockAt(b.prev).size&isFree != 0 {
		p, b = b.prev, blockAt(b.prev)
		h.unlink(p)
		h.absorb(p, p+b.size)
	}
	if p+b.size == h.top {
		h.top, h.last = p, b.prev
		return
	}
	h.link(p)
}

// join makes the free block at next, which follows the block at p, part of it.
func (h *heap) join(p, next uint64) {
	h.unlink(next)
	h.absorb(p, next)
}

// absorb makes the block at next, which is on no list, part of the block at p before it.
func (h *heap) absorb(p, next uint64) {
	b := blockAt(p)
	b.size += blockAt(next).size
	if end := p + b.size; end == h.top {
		h.last = p
	} else {
		blockAt(end).prev = p
	}
}

// resize makes what alloc returned n bytes large, in place if it can, and returns its address. It returns 0
// and changes nothing if there is no room.
func (h *heap) resize(addr, n uint64) uint64 {
	p, size := addr-header, blockSize(min(n, absurd))
	b := blockAt(p)
	if next := p + b.size; b.size < size && next != h.top && blockAt(next).size&isFree != 0 &&
		b.size+blockAt(next).size&^isFree >= size {
		h.join(p, next)
	}
	if b.size < size && p == h.last && p+size <= h.end {
		h.grow(size - b.size)
		b.size = size
	}
	if b.size >= size {
		h.trim(p, size)
		return addr
	}
	moved := h.alloc(n)
	if moved != 0 {
		copy(h.bytes(moved, n), h.bytes(addr, b.size-header))
		h.release(addr)
	}
	return moved
}

// bytes returns n bytes of the heap.
func (h *heap) bytes(addr, n uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(nil, uintptr(addr))), n)
}

// The engine reaches its heap through these four functions. It counts what is in use, by which it
// decides when to collect garbage, in a structure of its own.

func heapAlloc(_ *libc.TLS, state uintptr, n lib.Tsize_t) uintptr {
	s := stateAt(state)
	p := heapAt(s.Fopaque).alloc(uint64(n))
	if p != 0 {
		s.Fmalloc_count++
		s.Fmalloc_size += lib.Tsize_t(blockAt(p - header).size)
	}
	return uintptr(p)
}

func heapFree(_ *libc.TLS, state, p uintptr) {
	if p == 0 {
		return
	}
	s := stateAt(state)
	s.Fmalloc_count--
	s.Fmalloc_size -= lib.Tsize_t(blockAt(uint64(p) - header).size)
	heapAt(s.Fopaque).release(uint64(p))
}

func heapRealloc(tls *libc.TLS, state, p uintptr, n lib.Tsize_t) uintptr {
	switch {
	case p == 0 && n == 0:
		return 0
	case p == 0:
		return heapAlloc(tls, state, n)
	case n == 0:
		heapFree(tls, state, p)
		return 0
	}
	s := stateAt(state)
	before := blockAt(uint64(p) - header).size
	q := heapAt(s.Fopaque).resize(uint64(p), uint64(n))
	if q != 0 {
		s.Fmalloc_size += lib.Tsize_t(blockAt(q-header).size) - lib.Tsize_t(before)
	}
	return uintptr(q)
}

func heapUsable(_ *libc.TLS, p uintptr) lib.Tsize_t {
	if p == 0 {
		return 0
	}
	return lib.Tsize_t(blockAt(uint64(p)-header).size - header)
}

func stateAt(p uintptr) *lib.TJSMallocState { return (*lib.TJSMallocState)(unsafe.Add(nil, p)) }
