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

// The kinds of [Ledger]: children are told apart by their operator, their model, their proposer, and these labels.
const (
	ByOperator    = "operator"
	BySelector    = "selector"
	ByInstruction = "instruction"
	BySettings    = "settings"
	ByModel       = "model"
	ByProposer    = "proposer"
)

// kinds are all of them, in the order in which they are shown.
var kinds = [...]string{ByOperator, BySelector, ByInstruction, BySettings, ByModel, ByProposer}

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

// A Ledger has totals by kind and name.
type Ledger struct {
	kinds map[string]map[string]*Totals
	all   Totals // of all children
	named bool   // a child names its operator
}

// NewLedger returns a ledger without children.
func NewLedger() *Ledger { return &Ledger{kinds: map[string]map[string]*Totals{}, all: *newTotals("")} }

// Add counts the child with a row. parent is what the program scored that it was made from first, if that is known.
func (l *Ledger) Add(c *Child, row int, parent Score) {
	l.named = l.named || c.Operator != ""
	l.all.add(c, row, parent)
	l.all.Cost = l.all.Cost.Plus(c.Cost)
	for _, kind := range kinds {
		if name := c.name(kind); name != "" {
			t := l.totals(kind, name)
			t.add(c, row, parent)
			t.Cost = t.Cost.Plus(c.Cost)
		}
	}
}

func (l *Ledger) totals(kind, name string) *Totals {
	of := l.kinds[kind]
	if of == nil {
		of = map[string]*Totals{}
		l.kinds[kind] = of
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
func (l *Ledger) Named() bool { return l.named }

// All returns the totals of all children.
func (l *Ledger) All() Totals { return l.all }

// By returns the totals of a kind, in the order of their first children.
func (l *Ledger) By(kind string) []*Totals {
	return slices.SortedFunc(maps.Values(l.kinds[kind]), func(a, b *Totals) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Name, b.Name))
	})
}

// clone returns a copy.
func (l *Ledger) clone() *Ledger {
	c := &Ledger{make(map[string]map[string]*Totals, len(l.kinds)), l.all, l.named}
	for kind, of := range l.kinds {
		c.kinds[kind] = make(map[string]*Totals, len(of))
		for name, t := range of {
			copied := *t
			c.kinds[kind][name] = &copied
		}
	}
	return c
}
