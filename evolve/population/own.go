package population

import (
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// An own is what the search itself knows of a member. Archives, operators, gates and memories are given members and may
// write to them. What is claimed comes from here.
type own struct {
	eval.Candidate
	id int
}

// A rank is what decides the order of members.
type rank struct {
	known, valid bool
	score        float64
}

func rankOf(r eval.Result) rank { return rank{true, r.Valid, r.Score} }

// above reports whether a stands before b.
func (a *rank) above(b *rank) bool {
	if a.valid != b.valid {
		return a.valid
	}
	return a.valid && a.score > b.score
}

// member returns a member that scored c. Its maps are its own, so that a part that writes to them changes no claim.
func member(c eval.Candidate, id int) *Member {
	m := &Member{rank: rankOf(c.Result), Candidate: c, ID: id, own: &own{c, id}}
	m.Result = c.Result.Clone()
	return m
}

// score gives m another result.
func (m *Member) score(r eval.Result) {
	o := own{eval.Candidate{Program: m.Program, Result: r}, m.ID}
	if m.own != nil {
		o.Program, o.id = m.own.Program, m.own.id
	}
	m.rank, m.own, m.Candidate = rankOf(r), &o, eval.Candidate{Program: o.Program, Result: r.Clone()}
}

// known returns what the search knows of m, whatever a part wrote to m. A member that an archive made itself is taken
// at its word.
func (m *Member) known() own {
	if m.own == nil {
		return own{m.Candidate, m.ID}
	}
	return *m.own
}

// child returns o as a search's best.
func (o own) child() evolve.Child { return evolve.Child{Candidate: o.Candidate, ID: o.id} }

// shown returns a copy of m for a part.
func (m *Member) shown() *Member {
	c, o := *m, m.known()
	c.Candidate, c.ID = o.Candidate, o.id
	c.Result = c.Result.Clone()
	return &c
}

// restore undoes what parts wrote to members whose rank it changed, and reports whether there are any.
func restore(members []*Member) (changed bool) {
	for _, m := range members {
		if m.rank.known && m.rank != rankOf(m.Result) {
			o := m.known()
			m.Candidate, m.ID = o.Candidate, o.id
			m.Result = o.Result.Clone()
			changed = true
		}
	}
	return changed
}

// chosen returns the archive's member of which the operator makes the child: the one that was selected, of which the
// view has a copy, or another that the operator put in its place.
func (x *expected) chosen() *Member {
	if v := x.view; v.Parent == x.shown || v.Parent.ID == v.parent.ID {
		return v.parent
	}
	return x.view.Parent
}
