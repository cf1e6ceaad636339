package population

import "slices"

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
