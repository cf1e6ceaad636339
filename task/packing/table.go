package packing

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
)

// pairs is the number of pairs of an item and a room that it fits into.
const pairs = capacity * (capacity + 1) / 2

// A table holds a priority for each pair of an item and a room of at least that: those of item 1, by room, then
// those of item 2, and so on.
type table []float64

// tabulate returns the table of priority.
func tabulate(priority func(item, room int) float64) table {
	t := make(table, 0, pairs)
	for item := 1; item <= capacity; item++ {
		for room := item; room <= capacity; room++ {
			t = append(t, priority(item, room))
		}
	}
	return t
}

// decodeTable reads a list of as many numbers as a table has.
func decodeTable(data json.RawMessage) (table, error) {
	var numbers []*float64 // a null leaves nil, where it would leave 0 in a float64
	if err := json.Unmarshal(data, &numbers); err != nil || numbers == nil {
		return nil, errors.New("want a list of numbers")
	}
	if len(numbers) != pairs {
		return nil, fmt.Errorf("%d numbers: want %d", len(numbers), pairs)
	}
	t := make(table, pairs)
	for i, p := range numbers {
		if p == nil {
			return nil, fmt.Errorf("number %d is null", i)
		}
		t[i] = *p
	}
	return t, nil
}

// of returns the priorities of item by room, of which the first is that of room item.
func (t table) of(item int) []float64 {
	from := (item-1)*(capacity+1) - item*(item-1)/2
	return t[from : from+capacity+1-item]
}

// pack returns how many bins the items take if each goes where its priority is highest, and of equal ones into the
// bin opened first. It takes time proportional to capacity for each item at most, however many bins are open: bins with
// the same room differ in age alone, so only the oldest of each room is compared.
func (t table) pack(items Instance) (bins int) {
	var open [capacity + 1]oldest // by room
	var some rooms                // those of which there are bins
	for _, item := range items {
		priority := t.of(item)
		room, most := capacity, priority[capacity-item] // of a new bin, which is the youngest
		first := bins
		for r := some.next(item); r < capacity; r = some.next(r + 1) {
			if p := priority[r-item]; p > most || p == most && open[r][0] < first {
				room, most, first = r, p, open[r][0]
			}
		}
		if first == bins {
			bins++
		} else if open[room].pop(); len(open[room]) == 0 {
			some.flip(room)
		}
		if left := room - item; left > 0 {
			if len(open[left]) == 0 {
				some.flip(left)
			}
			open[left].push(first)
		}
	}
	return bins
}

// rooms is a set of numbers below capacity, with a bit each.
type rooms [(capacity + 63) / 64]uint64

// flip removes r from the set or adds it.
func (s *rooms) flip(r int) { s[r/64] ^= 1 << (r % 64) }

// next returns the least number of the set that is at least r, or capacity if there is none.
func (s *rooms) next(r int) int {
	for w := r / 64; w < len(s); w++ {
		set := s[w]
		if w == r/64 {
			set &= ^uint64(0) << (r % 64)
		}
		if set != 0 {
			return w*64 + bits.TrailingZeros64(set)
		}
	}
	return capacity
}

// An oldest is a binary heap of bins by the order in which they were opened: the first is the oldest.
type oldest []int

func (q *oldest) push(bin int) {
	h := append(*q, bin)
	i := len(h) - 1
	for parent := (i - 1) / 2; i > 0 && h[parent] > h[i]; parent = (i - 1) / 2 {
		h[parent], h[i] = h[i], h[parent]
		i = parent
	}
	*q = h
}

// pop removes the oldest bin.
func (q *oldest) pop() {
	h := *q
	n := len(h) - 1
	h[0], h = h[n], h[:n]
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < n && h[child+1] < h[child] {
			child++
		}
		if child >= n || h[i] <= h[child] {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	*q = h
}
