package history

import (
	"cmp"
	"maps"
	"math"
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

func newTotals(name string) Totals { return Totals{Name: name, First: -1, Last: -1} }

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
	return label(c.Labels[kind])
}

// Others is the name of all that come after the names that a kind has room for.
const Others = "others"

// mostNames is how many names of a kind have totals of their own. A search that names each child's operator anew must
// not fill what every page is sent.
const mostNames = 1000

// Sums are totals by kind and name.
type Sums struct {
	All   Totals // of all children
	Named bool   // a child names its operator

	of    map[[2]string]Totals // by kind and name
	names map[string]int       // how many there are of a kind
}

func newSums() *Sums {
	return &Sums{All: newTotals(""), of: map[[2]string]Totals{}, names: map[string]int{}}
}

// Totals returns what the children of each operator, model and so on brought. Its time grows with the names and the
// steps under way, and not with the run.
func (r *Run) Totals() *Sums {
	now := *r.b.settled // the children of pulls that are not over may be made again
	now.of, now.names = maps.Clone(now.of), maps.Clone(now.names)
	for row, c := range r.b.pending {
		now.add(c, row, r.parentScore(c))
	}
	return &now
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
	s.Named = s.Named || c.Operator != ""
	s.All.add(c, row, parent)
	s.All.Cost = s.All.Cost.Plus(c.Cost)
	for _, kind := range kinds {
		key := [2]string{kind, c.name(kind)}
		if key[1] == "" {
			continue
		}
		t, known := s.of[key]
		if !known && s.names[kind] >= mostNames {
			key[1] = Others
			t, known = s.of[key]
		}
		if !known {
			t = newTotals(key[1])
			s.names[kind]++
		}
		t.add(c, row, parent)
		t.Cost = t.Cost.Plus(c.Cost)
		s.of[key] = t
	}
}

// By returns the totals of a kind, in the order of their first children.
func (s *Sums) By(kind string) (list []Totals) {
	for key, t := range s.of {
		if key[0] == kind {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b Totals) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// A course is how far a search has come while its children are taken in: its best, and the best before the step under
// way. What counts as an improvement is decided here.
type course struct {
	Best   Score
	before Score
}

// Step begins a step.
func (c *course) Step() { c.before = c.Best }

// Take takes in the score of a child, and reports whether it is better than all that the search had before the step.
func (c *course) Take(s Score) (improved bool) {
	if s.Better(c.Best) {
		c.Best = s
	}
	return s.Better(c.before)
}

// Lifts sum by how much children are better than their parents. The mean and the sum of squared distances from it are
// kept as by Welford, which loses no digits where lifts are small and alike.
type Lifts struct {
	N           int
	mean, about float64
}

// Add counts a lift.
func (l *Lifts) Add(lift float64) {
	l.N++
	d := lift - l.mean
	l.mean += d / float64(l.N)
	l.about += d * (lift - l.mean)
}

// Mean returns the mean, 0 of none or if it is not finite.
func (l Lifts) Mean() float64 { return finite(l.mean) }

// SD returns the standard deviation √(Σ(l − l̄)²/(n − 1)), 0 of fewer than two or if it is not finite.
func (l Lifts) SD() float64 {
	return finite(math.Sqrt(l.about / float64(max(l.N-1, 1))))
}

// SE returns the standard error of the mean, 0 of fewer than two or if it is not finite.
func (l Lifts) SE() float64 {
	return finite(math.Sqrt(l.about / float64(max(l.N-1, 1)) / float64(max(l.N, 1))))
}

// In returns the mean in standard deviations of all lifts of the run, 0 if these have none.
func (l Lifts) In(all Lifts) float64 {
	if sd := all.SD(); sd > 0 {
		return finite(l.mean / sd)
	}
	return 0
}
