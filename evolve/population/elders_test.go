package population

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

// lineOf returns n members, each with up to two parents among the ones before it, and what remembers them.
func lineOf(n int, r *rand.Rand) (*elders, []Member) {
	e, all := newElders(), make([]Member, n)
	for id := range all {
		m := Member{ID: id, Candidate: eval.Candidate{Program: fmt.Sprint(id),
			Result: eval.Result{Valid: true, Score: float64(r.IntN(5))}}}
		for range min(id, 1+r.IntN(2)) {
			m.Parents = append(m.Parents, max(0, id-1-r.IntN(6)))
		}
		all[id] = m
		if r.IntN(20) > 0 { // some are forgotten
			e.add(m)
		}
	}
	return e, all
}

// descent returns m and all that it descends from, by ID.
func descent(e *elders, m Member, of map[int]*Member) map[int]*Member {
	of[m.ID] = &m
	for _, id := range m.Parents {
		if p, known := e.of[id]; known && of[id] == nil {
			descent(e, p, of)
		}
	}
	return of
}

// The youngest of all that two members descend from, by its definition.
func TestAncestorAgainstItsDefinition(t *testing.T) {
	found := 0
	for seed := range uint64(300) {
		e, all := lineOf(40, rand.New(rand.NewPCG(seed, 1)))
		a, b := all[39], all[30+seed%9]
		e.add(a)
		e.add(b)
		ofA, ofB := descent(e, a, map[int]*Member{}), descent(e, b, map[int]*Member{})
		var want *Member
		for id, m := range ofA {
			if ofB[id] != nil && !m.Better(a.Candidate) && !m.Better(b.Candidate) && (want == nil || m.ID > want.ID) {
				want = m
			}
		}
		if ofA[b.ID] != nil || ofB[a.ID] != nil {
			want = nil
		}
		got, ok := e.ancestor(a, b)
		if ok != (want != nil) || ok && got.ID != want.ID {
			t.Errorf("seed %d: the ancestor of %d and %d is %v, want %v", seed, a.ID, b.ID, got, want)
		}
		if ok {
			found++
		}
	}
	if found < 30 {
		t.Errorf("only %d pairs had one", found)
	}
}

// In a search with crosses nearly all members are ancestors of each. What a merge looks at must not grow with them.
func TestAncestorLooksNoFurtherThanNeeded(t *testing.T) {
	looks := func(n int) float64 {
		e, all := newElders(), make([]Member, n)
		for id := range all {
			all[id] = member0(id)
			if id > 1 {
				all[id].Parents = []int{id - 2, id - 1 - id%2}
			}
			e.add(all[id])
		}
		return testing.AllocsPerRun(1, func() { e.ancestor(all[n-1], all[n-2]) })
	}
	if few, many := looks(100), looks(20_000); many > 10*few {
		t.Errorf("%v allocations among 100 members and %v among 20,000", few, many)
	}
}

func member0(id int) Member {
	return Member{ID: id, Candidate: eval.Candidate{Result: eval.Result{Valid: true, Score: float64(id)}}}
}
