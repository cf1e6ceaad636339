package population

import (
	"errors"
	"fmt"
	"strings"
)

// Islands is an archive of archives that breed by themselves. A child is added to the island of its parent, and which
// island breeds is drawn by Config.Islands. The initial program is on each.
//
// Migration copies the best members of each island to the next one, in a ring, and never a copy again, or all islands
// would soon be one. It is off by default, because it makes islands alike, and that they are unlike is what they are
// for.
//
// Source: OpenEvolve and ShinkaEvolve, whose islands differ in that the former takes members away in places and the
// latter moves them.
type Islands struct {
	Of    []Archive // required
	Every int       // children offered to all islands together between migrations; 0 means that nobody migrates
	Rate  float64   // the share of an island's members that migrate, the best first, at least one; 0 means one

	added int
}

var _ Archive = (*Islands)(nil)

func (s *Islands) validate() error {
	switch {
	case len(s.Of) == 0:
		return errors.New("population: Islands.Of is empty: need at least one archive")
	case s.Every < 0:
		return fmt.Errorf("population: Islands.Every is %d: need 0 for no migration, or more", s.Every)
	case !(s.Rate >= 0 && s.Rate <= 1):
		return fmt.Errorf("population: Islands.Rate is %v: need a share in [0, 1]", s.Rate)
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

// Add adds a copy of m to every island.
func (s *Islands) Add(m *Member) bool {
	kept := false
	for i := range s.Of {
		kept = s.Of[i].Add(m.copied()) || kept
	}
	return kept
}

// addTo adds m to one island. When it is time, members migrate after that.
func (s *Islands) addTo(part int, m *Member) {
	s.Of[part].Add(m)
	if s.added++; s.Every > 0 && s.added%s.Every == 0 {
		s.migrate()
	}
}

// migrate copies members. All are chosen before the first arrives, so that none travels through several islands at
// once.
func (s *Islands) migrate() {
	going := make([][]*Member, len(s.Of))
	for i, a := range s.Of {
		members := byRank(a.Members())
		n := max(1, int(s.Rate*float64(len(members))))
		for _, m := range members {
			if len(going[i]) < n && !m.migrant && m.Result.Valid {
				going[i] = append(going[i], m.copied())
			}
		}
	}
	for i := range s.Of {
		if next := s.Of[(i+1)%len(s.Of)]; len(s.Of) > 1 {
			for _, m := range going[i] {
				arrive(next, m)
			}
		}
	}
}

// arrive adds a copy of a migrant, unless the island has the program's member already.
func arrive(a Archive, m *Member) {
	for _, there := range a.Members() {
		if there.known().id == m.known().id {
			return
		}
	}
	c := m.copied()
	c.migrant = true
	a.Add(c)
}

// copied returns a copy of m that no child was made of yet.
func (m *Member) copied() *Member {
	c := *m
	c.Asked, c.Improved = 0, 0
	return &c
}

// rerank tells the islands that scores have changed.
func (s *Islands) rerank() {
	for _, a := range s.Of {
		rerank(a)
	}
}

// Members returns the members of all islands, each program once, in the order of islands.
func (s *Islands) Members() []*Member {
	var all []*Member
	seen := map[int]bool{}
	for _, a := range s.Of {
		for _, m := range a.Members() {
			if id := m.known().id; !seen[id] { // whatever a part wrote to m
				seen[id] = true
				all = append(all, m)
			}
		}
	}
	return all
}

// String names the islands and how they migrate.
func (s *Islands) String() string {
	var names []string
	for _, a := range s.Of {
		names = append(names, nameOf(a))
	}
	migration := ""
	if s.Every > 0 {
		migration = fmt.Sprintf("; %v every %d", s.Rate, s.Every)
	}
	return "Islands(" + strings.Join(names, ", ") + migration + ")"
}
