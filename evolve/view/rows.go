package view

import (
	"slices"
)

// rows are the columns of the children. Pages share them and do not copy them, so a row that changes is changed in copies
// of the columns. That is rare: only a run that was cut short and went on makes a child again.
type rows struct {
	childColumns
	ranking []int // the best rows, best first, of distinct programs
	shared  bool  // a page has a part of the columns
}

// mostBest is how many of the best children the page lists.
const mostBest = 20

// newRows returns columns that are empty and not null, as the script takes their lengths.
func newRows() rows {
	return rows{childColumns: childColumns{
		Arm: []int{}, Pull: []int{}, Step: []int{}, Index: []int{}, ID: []int{}, Parents: [][]int{}, Score: []*float64{}, State: []int{},
		Operator: []int{}, Model: []int{}, Cell: []int{}, Island: []int{}, Program: []string{}, Reason: []string{}, Time: []int64{},
		Calls: []int{}, Tokens: []int64{}, FLOPs: []float64{}, Money: []float64{},
	}}
}

// A row is one child.
type row struct {
	arm, pull, step, index, id int
	parents                    []int
	score                      *float64
	state                      int
	operator, model            int
	stand
	program, reason string
	time            int64
	spent           cost // of the run, by then
	sd              float64
	samples         int
}

func (r *rows) len() int { return len(r.Arm) }

// add appends a row and returns its number.
func (r *rows) add(c row) int {
	at := r.len()
	r.resize(at + 1)
	r.set(at, c)
	r.rank(at)
	return at
}

// replace changes a row.
func (r *rows) replace(at int, c row) {
	if r.shared {
		r.each(func(column column) { column.detach() })
		r.shared = false
	}
	r.set(at, c)
	r.ranking = r.ranking[:0]
	for i := range r.len() {
		r.rank(i)
	}
}

// set fills in a row.
func (r *rows) set(at int, c row) {
	r.Arm[at], r.Pull[at], r.Step[at], r.Index[at], r.ID[at], r.Parents[at] = c.arm, c.pull, c.step, c.index, c.id, c.parents
	r.Score[at], r.State[at], r.Operator[at], r.Model[at] = c.score, c.state, c.operator, c.model
	r.Cell[at], r.Island[at] = c.cell, c.island
	r.Program[at], r.Reason[at], r.Time[at] = c.program, c.reason, c.time
	r.SD[at], r.Samples[at] = c.sd, c.samples
	r.Calls[at], r.Tokens[at], r.FLOPs[at], r.Money[at] = c.spent.calls, c.spent.tokens, c.spent.flops, c.spent.money
}

// at returns a row.
func (r *rows) at(i int) row {
	return row{r.Arm[i], r.Pull[i], r.Step[i], r.Index[i], r.ID[i], r.Parents[i], r.Score[i], r.State[i], r.Operator[i], r.Model[i],
		stand{r.Cell[i], r.Island[i]}, r.Program[i], r.Reason[i], r.Time[i], cost{r.Calls[i], r.Tokens[i], r.FLOPs[i], r.Money[i]},
		r.SD[i], r.Samples[i]}
}

// rank puts a row among the best, if it is one of them. Of equal ones the first stays before the others, and of
// equal programs only the first is there.
func (r *rows) rank(at int) {
	twin := func(b int) bool { return r.Program[at] != "" && r.Program[b] == r.Program[at] }
	if r.Score[at] == nil || slices.ContainsFunc(r.ranking, twin) {
		return
	}
	place := len(r.ranking)
	for place > 0 && *r.Score[at] > *r.Score[r.ranking[place-1]] {
		place--
	}
	if place < mostBest {
		r.ranking = slices.Insert(r.ranking, place, at)
		r.ranking = r.ranking[:min(len(r.ranking), mostBest)]
	}
}

// best returns the best score of a child.
func (r *rows) best() scored {
	if len(r.ranking) == 0 {
		return scored{}
	}
	return scored{*r.Score[r.ranking[0]], true}
}

// top returns the best rows.
func (r *rows) top() []int { return append([]int{}, r.ranking...) }

// since returns the rows from one on.
func (r *rows) since(from int) childColumns {
	r.shared = true
	part := rows{childColumns: r.childColumns}
	part.each(func(c column) { c.cut(from) })
	if !slices.ContainsFunc(part.Samples, func(n int) bool { return n > 1 }) {
		part.SD, part.Samples = nil, nil
	}
	return part.childColumns
}

// resize makes room for n rows.
func (r *rows) resize(n int) { r.each(func(c column) { c.grow(n) }) }

// A column is one of the lists of childColumns, of whatever type.
type column interface {
	grow(n int)
	detach()
	cut(from int)
}

// each calls do for every column, so that none is forgotten where all are treated alike.
func (r *rows) each(do func(column)) {
	c := &r.childColumns
	for _, ints := range []*[]int{&c.Arm, &c.Pull, &c.Step, &c.Index, &c.ID, &c.State, &c.Operator, &c.Model, &c.Cell, &c.Island, &c.Calls, &c.Samples} {
		do((*list[int])(ints))
	}
	do((*list[[]int])(&c.Parents))
	do((*list[*float64])(&c.Score))
	do((*list[string])(&c.Program))
	do((*list[string])(&c.Reason))
	do((*list[int64])(&c.Time))
	do((*list[int64])(&c.Tokens))
	do((*list[float64])(&c.FLOPs))
	do((*list[float64])(&c.Money))
	do((*list[float64])(&c.SD))
}

// A list is a column of one type.
type list[T any] []T

// grow appends zero values up to a length.
func (l *list[T]) grow(n int) {
	for len(*l) < n {
		*l = append(*l, *new(T))
	}
}

// detach copies the column, so that pages keep theirs as it was.
func (l *list[T]) detach() { *l = slices.Clone(*l) }

// cut leaves the rows from one on. What is appended to the whole column later is not seen in them.
func (l *list[T]) cut(from int) { *l = (*l)[from:len(*l):len(*l)] }
