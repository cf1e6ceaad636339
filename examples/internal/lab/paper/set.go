package paper

// setOrder returns the order in which CPython 3.7 to 3.13 iterates a set of small non-negative integers that
// were added in the order given. The paper's code breaks ties by it: of four arms 6, 7, 8, 9, say, 8 is
// first.
//
// An integer is its own hash, and a set is an open-addressing table of 2ᵇ slots, at first 8, iterated by
// slot. See [pySet.add] for where an integer goes.
func setOrder(ints []int) []int {
	s := newPySet(8)
	for _, v := range ints {
		s.add(v)
	}
	return s.order()
}

const (
	linearProbes = 9 // slots looked at after the first one, where the table goes on that far
	perturbShift = 5
)

// pySet is the table of a set; free slots are −1.
type pySet struct {
	slots []int
	used  int
}

func newPySet(size int) *pySet {
	s := &pySet{slots: make([]int, size)}
	for i := range s.slots {
		s.slots[i] = -1
	}
	return s
}

// add puts v, which is not in the set, into its slot. When the table is three fifths full, it moves to
// one of more than four times the integers.
func (s *pySet) add(v int) {
	s.slots[s.free(v)] = v
	s.used++
	if s.used*5 < (len(s.slots)-1)*3 {
		return
	}
	size := 8
	for size <= s.used*4 {
		size *= 2
	}
	bigger := newPySet(size)
	for _, w := range s.order() {
		bigger.slots[bigger.free(w)] = w
	}
	s.slots = bigger.slots
}

// free returns the free slot for v: at v modulo the size, or in the slots right after it, or by the same
// rule from 5·i + 1 + (v shifted right by 5 bits more each time).
func (s *pySet) free(v int) int {
	mask, perturb := len(s.slots)-1, v
	for i := v & mask; ; {
		last := i
		if i+linearProbes <= mask {
			last += linearProbes
		}
		for slot := i; slot <= last; slot++ {
			if s.slots[slot] < 0 {
				return slot
			}
		}
		perturb >>= perturbShift
		i = (i*5 + 1 + perturb) & mask
	}
}

func (s *pySet) order() []int {
	var ints []int
	for _, v := range s.slots {
		if v >= 0 {
			ints = append(ints, v)
		}
	}
	return ints
}
