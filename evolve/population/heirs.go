package population

import "fmt"

// Heirs returns an archive of places. A program takes the place of its first parent, or of that one's heir, if it is
// strictly better (R. Storn, K. Price, "Differential Evolution", 1997). While there are fewer than n it takes a new
// place. A parent without a place, such as an invalid one, has no heir.
func Heirs(n int) Archive { return &heirs{n: n, place: make(map[int]int)} }

type heirs struct {
	n       int
	members []Member
	place   map[int]int // by ID, of all that have ever had one
}

// Validate fails if there is no place.
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
