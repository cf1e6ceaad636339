package noisy

import (
	"hash/crc32"
	"math/rand/v2"
	"slices"
)

// A stage is a part of the work that is timed. Its number decides how long it takes, never what it returns.
type stage struct {
	name             string
	initial, low, up float64
	run              func(w *work, number float64) uint64
}

func stages() []stage {
	return []stage{
		{"quicksort_below", 1000, 1, 1e6, (*work).quicksort},
		{"shell_ratio", 1.1, 1.05, 1e3, (*work).shellSort},
		{"digit_bits", 1, 1, 16, (*work).radixSort},
		{"buckets", 16, 1, 1 << 16, (*work).buckets},
		{"jump", 2, 1, 1e6, (*work).jumpSearch},
		{"segment", 100, 8, 1e6, (*work).sieve},
		{"chunk", 1, 1, 1e6, (*work).checksum},
	}
}

// A work is the inputs of the stages, and room to work in. It may be used by one goroutine at a time.
type work struct {
	input, sorted []uint32
	bytes         []byte
	a, b          []uint32 // and those below are written
	head, next    []int32
	composite     []bool
	counts        [1 << 16]uint32
}

func newWork() *work {
	const n = 1200
	r := rand.New(rand.NewPCG(1, 2))
	w := &work{input: make([]uint32, n), a: make([]uint32, n), b: make([]uint32, n), bytes: make([]byte, 24000),
		head: make([]int32, 1<<16), next: make([]int32, n), composite: make([]bool, primesBelow)}
	for i := range w.input {
		w.input[i] = r.Uint32()
	}
	for i := range w.bytes {
		w.bytes[i] = byte(r.Uint32())
	}
	w.sorted = slices.Sorted(slices.Values(w.input))
	return w
}

// digest tells lists apart that are not sorted alike.
func digest(a []uint32) (sum uint64) {
	for _, v := range a {
		sum = sum*1099511628211 + uint64(v)
	}
	return sum
}

func (w *work) quicksort(below float64) uint64 {
	copy(w.a, w.input)
	quicksort(w.a, int(below))
	return digest(w.a)
}

// quicksort sorts lists no longer than below by insertion.
func quicksort(a []uint32, below int) {
	for len(a) > max(below, 2) {
		pivot, i, j := a[len(a)/2], 0, len(a)-1
		for i <= j {
			for a[i] < pivot {
				i++
			}
			for a[j] > pivot {
				j--
			}
			if i <= j {
				a[i], a[j] = a[j], a[i]
				i, j = i+1, j-1
			}
		}
		quicksort(a[:j+1], below)
		a = a[i:]
	}
	insert(a, 1)
}

// insert sorts each list of elements that are gap apart.
func insert(a []uint32, gap int) {
	for i := gap; i < len(a); i++ {
		v, j := a[i], i
		for ; j >= gap && a[j-gap] > v; j -= gap {
			a[j] = a[j-gap]
		}
		a[j] = v
	}
}

func (w *work) shellSort(ratio float64) uint64 {
	copy(w.a, w.input)
	for gap := len(w.a) / 2; gap > 1; gap = min(gap-1, int(float64(gap)/ratio)) {
		insert(w.a, gap)
	}
	insert(w.a, 1)
	return digest(w.a)
}

func (w *work) radixSort(bits float64) uint64 {
	copy(w.a, w.input)
	from, to, mask := w.a, w.b, uint32(1)<<uint(bits)-1
	for shift := uint(0); shift < 32; shift += uint(bits) {
		counts := w.counts[:mask+1]
		clear(counts)
		for _, v := range from {
			counts[v>>shift&mask]++
		}
		sum := uint32(0)
		for i, c := range counts {
			counts[i], sum = sum, sum+c
		}
		for _, v := range from {
			d := v >> shift & mask
			to[counts[d]] = v
			counts[d]++
		}
		from, to = to, from
	}
	return digest(from)
}

// buckets looks every number up in a hash table.
func (w *work) buckets(n float64) (found uint64) {
	head := w.head[:int(n)]
	for i := range head {
		head[i] = -1
	}
	for i, v := range w.input {
		h := v % uint32(n)
		w.next[i], head[h] = head[h], int32(i)
	}
	for _, v := range w.input {
		i := head[v%uint32(n)]
		for w.input[i] != v {
			i = w.next[i]
		}
		found++
	}
	return found
}

// jumpSearch looks a third of the numbers up in the sorted list.
func (w *work) jumpSearch(number float64) (sum uint64) {
	step := int(number)
	for _, v := range w.input[:len(w.input)/3] {
		i := 0
		for i+step < len(w.sorted) && w.sorted[i+step] <= v {
			i += step
		}
		for w.sorted[i] < v {
			i++
		}
		sum += uint64(i)
	}
	return sum
}

// primesBelow is up to where the sieve counts.
const primesBelow = 40000

// sieve counts primes, a segment at a time.
func (w *work) sieve(number float64) (primes uint64) {
	for low := 2; low < primesBelow; low += int(number) {
		high := min(low+int(number), primesBelow)
		segment := w.composite[:high-low]
		clear(segment)
		for p := 2; p*p < primesBelow; p += 1 + p%2 { // 2 and all odd numbers
			for m := max(p*p, (low+p-1)/p*p); m < high; m += p {
				segment[m-low] = true
			}
		}
		for _, c := range segment {
			if !c {
				primes++
			}
		}
	}
	return primes
}

func (w *work) checksum(chunk float64) uint64 {
	sum, rest := uint32(0), w.bytes
	for len(rest) > 0 {
		n := min(int(chunk), len(rest))
		sum, rest = crc32.Update(sum, crc32.IEEETable, rest[:n]), rest[n:]
	}
	return uint64(sum)
}
