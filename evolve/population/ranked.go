package population

import (
	"slices"
)

// ranked are members best first, equals in the order in which they came. Archives embed it, so that selectors find
// members in order.
type ranked struct{ list []*Member }

// Members returns the members, best first; of equals the one that came first is first.
func (r *ranked) Members() []*Member { return r.list }

// place returns the index after all members that m is not better than.
func (r *ranked) place(m *Member) int {
	at, _ := slices.BinarySearchFunc(r.list, m, func(old, m *Member) int {
		if outranks(m, old) {
			return 1
		}
		return -1
	})
	return at
}

func (r *ranked) add(m *Member) { r.list = slices.Insert(r.list, r.place(m), m) }

// remove removes m, which stands among its equals before its place.
func (r *ranked) remove(m *Member) {
	for i := r.place(m) - 1; i >= 0; i-- {
		if r.list[i] == m {
			r.list = slices.Delete(r.list, i, i+1)
			return
		}
	}
}

// rerank puts the members in order of their scores of now.
func (r *ranked) rerank() { r.list = slices.Clone(byRank(r.list)) }

// byRank returns members best first: as they are, if they are in order, or else a sorted copy in which the older of
// two equals is first.
func byRank(members []*Member) []*Member {
	inOrder := true
	for i := 1; i < len(members) && inOrder; i++ {
		inOrder = !outranks(members[i], members[i-1])
	}
	if inOrder {
		return members
	}
	sorted := slices.Clone(members)
	slices.SortFunc(sorted, func(a, b *Member) int {
		switch {
		case outranks(a, b):
			return -1
		case outranks(b, a):
			return 1
		}
		return a.ID - b.ID
	})
	return sorted
}

// outranks reports whether a scored more than b, whatever parts wrote to them. It copies neither, as archives of many
// members are looked through for each child.
func outranks(a, b *Member) bool {
	if !a.rank.known || !b.rank.known {
		return a.Better(b.Candidate)
	}
	return a.rank.above(&b.rank)
}
