package population

import "fmt"

// All returns an archive of every valid program, or of the newest most if that is not 0. When there are more, the
// oldest one leaves, unless it is the best: then the next oldest does. So a score that was luck does not stay for ever,
// but for the best one. DGM keeps all.
//
// Selectors that draw give each member some weight. Over an archive that grows without bound they come to select almost
// uniformly, so bound it unless the selector looks at the best alone.
func All(most int) Archive { return &recent{most: most} }

type recent struct {
	most int // 0: all
	ranked
	age []*Member // oldest first; only with Most
}

func (a *recent) validate() error {
	if a.most < 0 {
		return fmt.Errorf("population: All(%d): need 0 for no limit, or more", a.most)
	}
	return nil
}

// Add keeps m.
func (a *recent) Add(m *Member) bool {
	a.add(m)
	if a.most == 0 {
		return true
	}
	a.age = append(a.age, m)
	if len(a.age) > a.most {
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
func (a *recent) String() string {
	if a.most == 0 {
		return "All"
	}
	return fmt.Sprintf("All(%d)", a.most)
}
