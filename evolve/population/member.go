package population

import (
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// A Member is a program that was scored, and where it comes from. It is a value: a part that is given one may change
// its copy. Lists of members, and a member's maps and slices, are shared and must not be changed.
type Member struct {
	eval.Candidate
	ID       int    // as in [evolve.Child]: its order of birth, 0 for the initial program
	Parents  []int  // IDs, the one it was made from first
	Operator string // what made it; "" for a plain rewrite

	asked *int // shared by all copies that one archive has handed out; nil means 0
}

// NewMember returns the member that a child becomes, after it was the parent of so many children. Searches make their
// members themselves. Tests of selectors need this.
func NewMember(c evolve.Child, asked int) Member {
	c.Result = c.Result.Clone() // a result's maps are not the members'
	return Member{Candidate: c.Candidate, ID: c.ID, Parents: c.Parents, Operator: c.Operator, asked: &asked}
}

// Asked returns of how many children m was chosen to be the parent, whether they have ended or not.
func (m Member) Asked() int {
	if m.asked == nil {
		return 0
	}
	return *m.asked
}

// apart returns a copy of m, of which no child was made yet.
func (m Member) apart() Member {
	m.asked = new(int)
	return m
}

// count counts a child of m.
func (m Member) count() {
	if m.asked != nil { // an archive may have made a member itself
		*m.asked++
	}
}

// Compare returns −1 if a is better than b, 1 if b is better than a, and 0 if neither is. With
// [slices.SortStableFunc] it puts the best first.
func Compare(a, b Member) int {
	switch {
	case outranks(&a, &b):
		return -1
	case outranks(&b, &a):
		return 1
	}
	return 0
}

// outranks is a.Better(b). It copies neither, as archives of many members are looked through for each child.
func outranks(a, b *Member) bool {
	if a.Result.Valid != b.Result.Valid {
		return a.Result.Valid
	}
	return a.Result.Valid && a.Result.Score > b.Result.Score
}

// field returns the members that may be chosen: those that are valid, or all of them if none is.
func field(members []Member) []Member {
	invalid := 0
	for i := range members {
		if !members[i].Result.Valid {
			invalid++
		}
	}
	if invalid == 0 || invalid == len(members) {
		return members
	}
	valid := make([]Member, 0, len(members)-invalid)
	for i := range members {
		if members[i].Result.Valid {
			valid = append(valid, members[i])
		}
	}
	return valid
}
