package peers

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/population"
)

// Elites are ShinkaEvolve's archive: the best programs of all islands together. A newcomer replaces the worst if it is
// strictly better.
//
// Source: shinka/database/dbase.py, _update_archive_fitness.
type elites struct {
	most int
	list []elite
	best *population.Member
}

// An elite is a program of the archive.
type elite struct {
	*population.Member
	island int
}

// A shore is the part of the archive that is on one island.
type shore struct {
	*elites
	at  int
	all []*population.Member // those that were given to it, in the archive or not
}

var _ population.Archive = (*shore)(nil)

// newElites returns an archive of so many programs on so many islands.
func newElites(most, islands int) (shores []*shore) {
	e := &elites{most: most}
	for i := range islands {
		shores = append(shores, &shore{elites: e, at: i})
	}
	return shores
}

// Add gives m to the island, and to the archive if it is good enough.
func (s *shore) Add(m *population.Member) bool {
	s.all = append(s.all, m)
	if !m.Result.Valid {
		return false
	}
	if s.best == nil || m.Better(s.best.Candidate) {
		s.best = m
	}
	if len(s.list) == s.most {
		worst := 0
		for i, k := range s.list {
			if s.list[worst].Better(k.Candidate) {
				worst = i
			}
		}
		if !m.Better(s.list[worst].Candidate) {
			return false
		}
		s.list = slices.Delete(s.list, worst, worst+1)
	}
	s.list = append(s.list, elite{m, s.at})
	return true
}

// Members returns those of the archive that are on the island. If there are none it is the best program, if that is on
// the island, or all that were given to it.
func (s *shore) Members() []*population.Member {
	var members []*population.Member
	for _, k := range s.list {
		if k.island == s.at {
			members = append(members, k.Member)
		}
	}
	switch {
	case len(members) > 0:
		return members
	case s.best != nil && slices.Contains(s.all, s.best):
		return []*population.Member{s.best}
	}
	return s.all
}

// context returns the programs that are shown beside the parent: the best of all islands if it is on this one, or else
// any of the archive here, and the best here of those that are left. The better one is last.
//
// Source: shinka/database/inspirations.py.
func (s *shore) context(parent *population.Member, r *rand.Rand) (shown []*population.Member) {
	left := slices.DeleteFunc(slices.Clone(s.Members()), func(m *population.Member) bool {
		return m.ID == parent.ID || !m.Result.Valid
	})
	take := func(m *population.Member) {
		shown = append(shown, m)
		left = slices.DeleteFunc(left, func(k *population.Member) bool { return k == m })
	}
	if s.best != nil && s.best.ID != parent.ID && slices.Contains(s.all, s.best) {
		take(s.best)
	} else if len(left) > 0 {
		take(left[r.IntN(len(left))])
	}
	if len(left) > 0 {
		take(population.Best().Select(left, r))
	}
	slices.SortStableFunc(shown, func(a, b *population.Member) int {
		return byScore(&resident{Member: b}, &resident{Member: a})
	})
	return shown
}

// broken reports whether nothing is valid, and there is something to mend.
func (s *shore) broken(v *population.View) bool { return len(s.list) == 0 && len(v.Invalid) > 0 }

// String names the archive and its bound.
func (s *shore) String() string { return fmt.Sprintf("Elites(%d, island %d)", s.most, s.at) }
