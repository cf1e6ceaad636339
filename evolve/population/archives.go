package population

import (
	"fmt"
	"slices"
)

// Top returns an archive of the n best programs. A new one replaces the worst if it is strictly better, so that of
// equals the older stays. Top(1) is a strict greedy search's. It panics if n < 1.
func Top(n int) Archive {
	if n < 1 {
		panic(fmt.Sprintf("population: Top(%d): need at least 1", n))
	}
	return &top{n: n}
}

type top struct {
	n int
	ranked
}

var _ Archive = (*top)(nil)

// Add keeps m unless n others are at least as good.
func (t *top) Add(m Member) bool {
	if t.replace(m) {
		return true
	}
	if len(t.list) == t.n {
		if t.place(m) == t.n {
			return false
		}
		t.list = t.list[:t.n-1]
	}
	t.add(m)
	return true
}

// String names the archive and its size.
func (t *top) String() string { return fmt.Sprintf("Top(%d)", t.n) }

// Drift returns an archive of one program, which gives way to one that scores the same. Where many programs do, as
// where scores are counts, the search drifts over them and is asked for rewrites of other programs all the time. It is
// greedy search's, and does as Top(1) where no two programs score the same.
func Drift() Archive { return &drift{} }

type drift struct{ members []Member }

var _ Archive = (*drift)(nil)

// Add keeps m unless the program that is kept is better.
func (d *drift) Add(m Member) bool {
	if Replace(d.members, m) {
		return true
	}
	if len(d.members) > 0 && outranks(&d.members[0], &m) {
		return false
	}
	d.members = []Member{m}
	return true
}

// Members returns the program that is kept.
func (d *drift) Members() []Member { return d.members }

// String names the archive.
func (d *drift) String() string { return "Drift" }

// All returns an archive of every valid program, as DGM has it. Selectors that draw give each member some weight. Over
// an archive that grows without bound they come to select almost uniformly.
func All() Archive { return &all{} }

type all struct{ ranked }

// Add keeps m.
func (a *all) Add(m Member) bool {
	if !a.replace(m) {
		a.add(m)
	}
	return true
}

// String names the archive.
func (a *all) String() string { return "All" }

// Heirs returns an archive of places. A program takes the place of its first parent, or of that one's heir, if it is
// strictly better (R. Storn, K. Price, "Differential Evolution", 1997). While there are fewer than n it takes a new
// place. A parent without a place, such as an invalid one, has no heir.
func Heirs(n int) Archive { return &heirs{n: n, place: make(map[int]int)} }

type heirs struct {
	n       int
	members []Member
	place   map[int]int // by ID, of all that have ever had one
}

// Validate fails if the archive has room for no member.
func (h *heirs) Validate() error {
	if h.n < 1 {
		return fmt.Errorf("population: Heirs(%d): need at least 1", h.n)
	}
	return nil
}

// Add gives m a place of its own or its parent's.
func (h *heirs) Add(m Member) bool {
	if Replace(h.members, m) {
		return true
	}
	if len(h.members) < h.n {
		h.place[m.ID] = len(h.members)
		h.members = append(h.members, m)
		return true
	}
	if len(m.Parents) == 0 {
		return false
	}
	at, has := h.place[m.Parents[0]]
	if !has || !outranks(&m, &h.members[at]) {
		return false
	}
	h.place[m.ID], h.members[at] = at, m
	return true
}

// Members returns the members by place.
func (h *heirs) Members() []Member { return h.members }

// String names the archive and its size.
func (h *heirs) String() string { return fmt.Sprintf("Heirs(%d)", h.n) }

// ranked are members best first, equals in the order in which they came. Archives embed it, so that selectors find
// members in order.
type ranked struct{ list []Member }

// Members returns the members, best first; of equals the one that came first is first.
func (r *ranked) Members() []Member { return r.list }

// place returns the index after all members that m is not better than.
func (r *ranked) place(m Member) int {
	low, high := 0, len(r.list)
	for low < high { // as slices.BinarySearchFunc, which would copy members
		if mid := (low + high) / 2; outranks(&m, &r.list[mid]) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

func (r *ranked) add(m Member) { r.list = slices.Insert(r.list, r.place(m), m) }

// replace gives m the place of the member with its ID, if there is one, and reports whether there is.
func (r *ranked) replace(m Member) bool {
	if !Replace(r.list, m) {
		return false
	}
	r.list = byRank(r.list)
	return true
}

// Replace replaces the member of a list that has m's ID by m, and reports whether there is one. An [Archive] that keeps
// a list begins its Add with it.
func Replace(list []Member, m Member) bool {
	for i := range list {
		if list[i].ID == m.ID {
			list[i] = m
			return true
		}
	}
	return false
}

// byRank returns members best first: as they are, if they are in order, or else a sorted copy in which the older of
// two equals is first.
func byRank(members []Member) []Member {
	inOrder := true
	for i := 1; i < len(members) && inOrder; i++ {
		inOrder = !outranks(&members[i], &members[i-1])
	}
	if inOrder {
		return members
	}
	sorted := slices.Clone(members)
	slices.SortFunc(sorted, func(a, b Member) int {
		if c := Compare(a, b); c != 0 {
			return c
		}
		return a.ID - b.ID
	})
	return sorted
}
