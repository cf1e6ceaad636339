package packing

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// capacity is how much a bin holds.
const capacity = 100

// An Instance is a sequence of items, each from 1 to 100, in the order of arrival.
type Instance []int

// newInstance returns n items that are drawn from a Weibull distribution with shape 3 and scale 45, rounded to the
// nearest integer and limited to what a bin holds. Seeds address them: equal ones give equal items.
func newInstance(seed uint64, n int) Instance {
	const shape, scale = 3, 45
	r := rand.New(rand.NewPCG(seed, 0x7061636b696e67)) // "packing"
	items := make(Instance, n)
	for i := range items {
		x := scale * math.Pow(r.ExpFloat64(), 1.0/shape)
		items[i] = int(min(max(math.Round(x), 1), capacity))
	}
	return items
}

// check returns an error if there are no items, or one does not fit a bin.
func (items Instance) check() error {
	for i, v := range items {
		if v < 1 || v > capacity {
			return fmt.Errorf("item %d is %d: need 1 to %d", i, v, capacity)
		}
	}
	if len(items) == 0 {
		return errors.New("no items: need at least one")
	}
	return nil
}

// bound returns L1 = ⌈Σ items / 100⌉: no packing uses fewer bins (Martello and Toth, 1990).
func (items Instance) bound() int {
	sum := 0
	for _, v := range items {
		sum += v
	}
	return (sum + capacity - 1) / capacity
}

// firstFit returns how many bins the items take if each goes into the bin opened first of those it fits into.
func (items Instance) firstFit() int {
	return tabulate(func(int, int) float64 { return 0 }).pack(items)
}

// bestFit returns how many bins the items take if each goes into the fullest bin that it fits into, and of equally
// full ones into the one opened first.
func (items Instance) bestFit() int {
	return tabulate(func(_, room int) float64 { return -float64(room) }).pack(items)
}
