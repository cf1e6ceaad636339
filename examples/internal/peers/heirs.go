package peers

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve/population"
)

// Heirs is an archive of places. A program takes the place of its first parent, or of that one's heir, if it is
// strictly better (R. Storn, K. Price, "Differential Evolution", 1997). While there is room it takes a new place.
type Heirs struct {
	Size    int // required, at least 1
	members []*population.Member
	place   map[int]int // by ID, of all that have ever had one
}

var _ population.Archive = (*Heirs)(nil)

// Add gives m a place of its own or its parent's. A parent without a place, such as an invalid one, has no heir.
func (h *Heirs) Add(m *population.Member) bool {
	if len(h.members) < h.Size {
		if h.place == nil {
			h.place = make(map[int]int)
		}
		h.place[m.ID] = len(h.members)
		h.members = append(h.members, m)
		return true
	}
	if len(m.Parents) == 0 {
		return false
	}
	at, has := h.place[m.Parents[0]]
	if !has || !m.Better(h.members[at].Candidate) {
		return false
	}
	h.place[m.ID], h.members[at] = at, m
	return true
}

// Members returns the members by place.
func (h *Heirs) Members() []*population.Member { return h.members }

// String names the archive and its size.
func (h *Heirs) String() string { return fmt.Sprintf("Heirs(%d)", h.Size) }
