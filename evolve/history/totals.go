package history

import (
	"cmp"
	"maps"
	"slices"
)

// Totals are what the children that have something in common brought, and what they cost.
type Totals struct {
	Name     string
	Children int
	Valid    int
	Improved int // better than the best of their search before their step
	Lifts    Lifts
	First    int  // row of the first child
	Last     int  // row of the last improvement; -1 for none
	Cost     Cost // of their own calls and sessions; of an arm, of all calls of its pulls
}

func newTotals(name string) *Totals { return &Totals{Name: name, First: -1, Last: -1} }

// add counts a child, but for what it cost. parent is what the program scored that it was made from first.
func (t *Totals) add(c *Child, row int, parent Score) {
	if t.Children++; t.First < 0 || row < t.First {
		t.First = row
	}
	if c.Valid {
		t.Valid++
	}
	if c.Improved {
		t.Improved++
		t.Last = max(t.Last, row)
	}
	if c.Valid && parent.Valid {
		t.Lifts.Add(c.Score - parent.Value)
	}
}

// The kinds of [Sums]: children are told apart by their operator, their model, their proposer, and these labels.
const (
	ByOperator    = "operator"
	BySelector    = "selector"
	ByInstruction = "instruction"
	BySettings    = "settings"
	ByModel       = "model"
	ByProposer    = "proposer"
)

// kinds are all of them, in the order in which they are shown.
var kinds = []string{ByOperator, BySelector, ByInstruction, BySettings, ByModel, ByProposer}

// Kinds returns all of them, in the order in which they are shown.
func Kinds() []string { return slices.Clone(kinds) }

// name returns what the child names of a kind, "" for nothing.
func (c *Child) name(kind string) string {
	switch kind {
	case ByOperator:
		return cmp.Or(Name(c.Operator), PlainRewrite)
	case ByModel:
		return Name(c.Model)
	case ByProposer:
		if c.Proposer == c.Operator { // an operator alone
			return ""
		}
		return Name(c.Proposer)
	}
	return Label(c.Labels[kind])
}

// Others is the name of all that come after the names that a kind has room for.
const Others = "others"

// mostNames is how many names of a kind have totals of their own. A search that names each child's operator anew must
// not fill what every page is sent.
const mostNames = 1000

// Sums are totals by kind and name.
type Sums struct {
	kinds map[string]map[string]*Totals
	all   Totals // of all children
	named bool   // a child names its operator
}

func newSums() *Sums { return &Sums{kinds: map[string]map[string]*Totals{}, all: *newTotals("")} }

// Totals returns what the children of each operator, model and so on brought. Its time grows with the names and the
// steps under way, and not with the run.
func (r *Run) Totals() *Sums {
	now := r.b.settled.clone() // the children of pulls that are not over may be made again
	for row, c := range r.b.pending {
		now.add(c, row, r.parentScore(c))
	}
	return now
}

// Sums returns the same of the children of one arm, or with -1 of all, summed in the order of rows.
func (r *Run) Sums(arm int) *Sums {
	sums := newSums()
	for row := range r.Children {
		if c := &r.Children[row]; arm < 0 || c.Arm == arm {
			sums.add(c, row, r.parentScore(c))
		}
	}
	return sums
}

// ArmTotals returns the totals of each arm: of its children, with those of pulls that are not over, and of the calls of
// its pulls.
func (r *Run) ArmTotals() []Totals {
	list := make([]Totals, len(r.Arms))
	for i := range list {
		list[i] = r.Arms[i].settled
	}
	for row, c := range r.b.pending {
		list[c.Arm].add(c, row, r.parentScore(c))
	}
	return list
}

// pending yields the children of pulls that are not over, with their rows.
func (b *builder) pending(yield func(row int, c *Child) bool) {
	for _, number := range slices.Sorted(maps.Keys(b.pulls)) {
		for _, row := range slices.Sorted(maps.Values(b.pulls[number].rows)) {
			if !yield(row, &b.run.Children[row]) {
				return
			}
		}
	}
}

// add counts the child with a row. parent is what the program scored that it was made from first, if that is known.
func (s *Sums) add(c *Child, row int, parent Score) {
	s.named = s.named || c.Operator != ""
	s.all.add(c, row, parent)
	s.all.Cost = s.all.Cost.Plus(c.Cost)
	for _, kind := range kinds {
		if name := c.name(kind); name != "" {
			t := s.totals(kind, name)
			t.add(c, row, parent)
			t.Cost = t.Cost.Plus(c.Cost)
		}
	}
}

func (s *Sums) totals(kind, name string) *Totals {
	of := s.kinds[kind]
	if of == nil {
		of = map[string]*Totals{}
		s.kinds[kind] = of
	}
	if of[name] == nil && len(of) >= mostNames {
		name = Others
	}
	if of[name] == nil {
		of[name] = newTotals(name)
	}
	return of[name]
}

// Named reports whether a child names its operator.
func (s *Sums) Named() bool { return s.named }

// All returns the totals of all children.
func (s *Sums) All() Totals { return s.all }

// By returns the totals of a kind, in the order of their first children.
func (s *Sums) By(kind string) []*Totals {
	return slices.SortedFunc(maps.Values(s.kinds[kind]), func(a, b *Totals) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Name, b.Name))
	})
}

func (s *Sums) clone() *Sums {
	c := &Sums{make(map[string]map[string]*Totals, len(s.kinds)), s.all, s.named}
	for kind, of := range s.kinds {
		c.kinds[kind] = make(map[string]*Totals, len(of))
		for name, t := range of {
			copied := *t
			c.kinds[kind][name] = &copied
		}
	}
	return c
}
