package population

import "fmt"

// All is an archive of every valid program, or of the newest ones. DGM keeps all.
//
// Selectors that draw give each member some weight. Over an archive that grows without bound they come to select almost
// uniformly, so bound it unless the selector looks at the best alone.
type All struct {
	// Most is how many members stay; 0 means all. When there are more, the oldest one leaves, unless it is the best:
	// then the next oldest does. So a score that was luck does not stay for ever, but for the best one.
	Most int

	ranked
	age []*Member // oldest first; only with Most
}

var _ Archive = (*All)(nil)

func (a *All) validate() error {
	if a.Most < 0 {
		return fmt.Errorf("population: All.Most is %d: need 0 for no limit, or more", a.Most)
	}
	return nil
}

// Add keeps m.
func (a *All) Add(m *Member) bool {
	a.add(m)
	if a.Most == 0 {
		return true
	}
	a.age = append(a.age, m)
	if len(a.age) > a.Most {
		oldest := 0
		if a.age[0] == a.list[0] && len(a.age) > 1 {
			oldest = 1
		}
		gone := a.age[oldest]
		a.remove(gone)
		copy(a.age[1:], a.age[:oldest]) // the best one stays first in line
		a.age = a.age[1:]
		return gone != m
	}
	return true
}

// String names the archive and its bound.
func (a *All) String() string {
	if a.Most == 0 {
		return "All"
	}
	return fmt.Sprintf("All(%d)", a.Most)
}
