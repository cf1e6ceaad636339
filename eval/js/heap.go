package js

import (
	"math/bits"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// A heap hands out the memory of one virtual machine, one mapping outside Go's memory, in blocks of eight sizes for
// each power of two. A freed block serves the next request for its size; only when the mapping is full are neighbours
// joined and cut anew. That will do, as the engine packs objects of up to 512 bytes into arenas of 4 KiB.
//
// Its own state lies at the start of the mapping. A copy of the mapping up to top is therefore a copy of the whole
// machine, and writing that copy back undoes whatever a program did to it.
type heap struct {
	top    uintptr         // end of the last block; everything above is untouched
	end    uintptr         // end of the mapping, or of the program's share of it
	denied uintptr         // requests refused
	free   [8 * 48]uintptr // the first free block of each class
}

// A block is the header of every piece of memory handed out.
type block struct {
	size uintptr // in bytes with this header
	next uintptr // of a free block: another of its class, or 0
}

const (
	header = unsafe.Sizeof(block{})
	inUse  = 1 // the next of a block that is not free
)

// newHeap sets up a heap in mem, which must be zero and stay where it is.
func newHeap(mem []byte) *heap {
	base := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	h := at[heap](base)
	h.top = base + unsafe.Sizeof(heap{})
	h.end = base + uintptr(len(mem))
	return h
}

// at returns the T at the address p outside Go's memory.
func at[T any](p uintptr) *T { return (*T)(unsafe.Add(nil, p)) }

// bytesAt returns the n bytes at the address p outside Go's memory.
func bytesAt(p, n uintptr) []byte { return unsafe.Slice(at[byte](p), n) }

// class returns the list for blocks of one of the eight sizes.
func class(size uintptr) uintptr {
	power := bits.Len(uint(size - 1))
	return uintptr(power)<<3 | size<<4>>power&7
}

// fit returns the smallest size of blocks with room for n bytes.
func fit(n uintptr) uintptr {
	size := min(n, 1<<40) + header
	step := max(16, uintptr(1)<<bits.Len(uint(size-1))>>4)
	return (size + step - 1) &^ (step - 1)
}

// alloc returns the address of n bytes, not cleared, or 0 if there is no room.
func (h *heap) alloc(n uintptr) uintptr {
	size := fit(n)
	list := &h.free[class(size)]
	p := *list
	switch {
	case p != 0:
		*list = at[block](p).next
	case size <= h.end-h.top:
		p = h.top
		h.top += size
	default:
		if p = h.sweep(size); p == 0 {
			h.denied++
			return 0
		}
	}
	*at[block](p) = block{size, inUse}
	return p + header
}

// sweep joins neighbouring free blocks and returns one of the given size that it cuts from them, or 0.
func (h *heap) sweep(size uintptr) (found uintptr) {
	clear(h.free[:])
	for p := uintptr(unsafe.Pointer(h)) + unsafe.Sizeof(heap{}); p < h.top; {
		end := p
		for end < h.top && at[block](end).next != inUse {
			end += at[block](end).size
		}
		if found == 0 && end-p >= size {
			found, p = p, p+size
		}
		for p < end {
			piece := (end - p) &^ (max(16, uintptr(1)<<bits.Len(uint(end-p))>>4) - 1) // the largest size
			*at[block](p) = block{size: piece}
			h.release(p + header)
			p += piece
		}
		if p < h.top {
			p += at[block](p).size
		}
	}
	return found
}

// release frees what alloc returned.
func (h *heap) release(addr uintptr) {
	b := at[block](addr - header)
	list := &h.free[class(b.size)]
	b.next, *list = *list, addr-header
}

// resize makes what alloc returned n bytes large and returns its address, or 0 without any change if there is no room.
func (h *heap) resize(addr, n uintptr) uintptr {
	b, size := at[block](addr-header), fit(n)
	if more := size - b.size; addr-header+b.size == h.top && size > b.size && more <= h.end-h.top {
		b.size, h.top = size, h.top+more
	}
	if size == b.size {
		return addr
	}
	moved := h.alloc(n)
	if moved != 0 {
		copy(bytesAt(moved, n), bytesAt(addr, b.size-header))
		h.release(addr)
	}
	return moved
}

// The engine reaches its heap through these four functions. By the size in state it decides when to collect garbage.

func heapAlloc(_ *libc.TLS, state uintptr, n lib.Tsize_t) uintptr {
	s := at[lib.TJSMallocState](state)
	p := at[heap](s.Fopaque).alloc(uintptr(n))
	if p != 0 {
		s.Fmalloc_size += heapUsable(nil, p)
	}
	return p
}

func heapFree(_ *libc.TLS, state, p uintptr) {
	s := at[lib.TJSMallocState](state)
	s.Fmalloc_size -= heapUsable(nil, p)
	at[heap](s.Fopaque).release(p)
}

func heapRealloc(_ *libc.TLS, state, p uintptr, n lib.Tsize_t) uintptr {
	s, before := at[lib.TJSMallocState](state), heapUsable(nil, p)
	q := at[heap](s.Fopaque).resize(p, uintptr(n))
	if q != 0 {
		s.Fmalloc_size += heapUsable(nil, q) - before
	}
	return q
}

func heapUsable(_ *libc.TLS, p uintptr) lib.Tsize_t {
	return lib.Tsize_t(at[block](p-header).size - header)
}
