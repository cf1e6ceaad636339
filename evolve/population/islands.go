package population

import (
	"errors"
	"fmt"
	"strings"
)

// Islands is an archive of archives that breed by themselves. A child is added to the island of its parent, and which
// island breeds is drawn by Config.Islands. The initial program is on each. Nobody migrates, unless the islands see to
// it themselves, as those of some presets do.
type Islands struct {
	Of []Archive // required
}

var (
	_ Archive   = (*Islands)(nil)
	_ Validator = (*Islands)(nil)
)

// Validate fails without an island, and if one is nil, invalid or listed twice.
func (s *Islands) Validate() error {
	if len(s.Of) == 0 {
		return errors.New("population: Islands.Of is empty: need at least one archive")
	}
	for i, a := range s.Of {
		if a == nil {
			return fmt.Errorf("population: Islands.Of[%d] is nil", i)
		}
		for j := range i {
			if s.Of[j] == a {
				return fmt.Errorf("population: Islands.Of[%d] and [%d] are one archive: give each island its own", j, i)
			}
		}
		if err := valid(a); err != nil {
			return err
		}
	}
	return nil
}

// Add adds m to every island. On each it has a count of its own of children that were made of it.
func (s *Islands) Add(m Member) bool {
	kept := false
	for _, a := range s.Of {
		kept = a.Add(m.apart()) || kept
	}
	return kept
}

// Members returns the members of all islands, each program once, in the order of islands.
func (s *Islands) Members() []Member {
	var all []Member
	seen := map[int]bool{}
	for _, a := range s.Of {
		for _, m := range a.Members() {
			if !seen[m.ID] {
				seen[m.ID] = true
				all = append(all, m)
			}
		}
	}
	return all
}

// partsOf returns the islands of an archive, or the archive itself.
func partsOf(a Archive) []Archive {
	if islands, ok := a.(*Islands); ok {
		return islands.Of
	}
	return []Archive{a}
}

// String names the islands.
func (s *Islands) String() string {
	var names []string
	for _, a := range s.Of {
		names = append(names, nameOf(a))
	}
	return "Islands(" + strings.Join(names, ", ") + ")"
}
