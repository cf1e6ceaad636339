package view

import (
	"maps"
	"math"
	"slices"

	shared "github.com/evoalloc/evoalloc/evolve/internal/ledgers"
)

// ledgers sum what children brought and cost, by kind and name.
type ledgers struct {
	kinds map[ledgerKey]tally
}

// A ledgerKey names a row: the kind, and the number of a label, or of a search.
type ledgerKey struct {
	kind   string
	number int
}

// ledgerKinds are the kinds, in the order in which the page shows them.
var ledgerKinds = [...]string{"operator", "selector", "instruction", "settings", "model", "search"}

// everything is the kind of the row that all children are in. It is not shown.
const everything = "everything"

// A tally is one row of a ledger while it grows.
type tally struct {
	ledgerRow
	lifts shared.Lifts
}

// An entry is a child as ledgers see it.
type entry struct {
	row, operator, model, arm int
	valid, improved, lifted   bool
	lift                      float64
	labels                    []labeled
	spent                     cost // of its own calls
}

// labeled is a label of a child that has a ledger.
type labeled struct {
	kind   string
	number int
}

func newLedgers() ledgers { return ledgers{map[ledgerKey]tally{}} }

// add books a child. What a search cost is booked by spend, as not all of its calls are for children.
func (l *ledgers) add(e entry) {
	l.with("operator", e.operator, func(t *tally) { t.add(e); t.spend(e.spent) })
	if e.model >= 0 {
		l.with("model", e.model, func(t *tally) { t.add(e); t.spend(e.spent) })
	}
	for _, label := range e.labels {
		l.with(label.kind, label.number, func(t *tally) { t.add(e); t.spend(e.spent) })
	}
	l.with("search", e.arm, func(t *tally) { t.add(e) })
	l.with(everything, 0, func(t *tally) { t.add(e) })
}

// spend books what a call of a search cost.
func (l *ledgers) spend(arm int, c cost) {
	l.with("search", arm, func(t *tally) { t.spend(c) })
}

// with changes a row.
func (l *ledgers) with(kind string, number int, do func(*tally)) {
	key := ledgerKey{kind, number}
	t, ok := l.kinds[key]
	if !ok {
		t.Last = -1
	}
	do(&t)
	l.kinds[key] = t
}

func (t *tally) add(e entry) {
	t.Children++
	if e.valid {
		t.Valid++
	}
	if e.improved {
		t.Improved++
		t.Last = max(t.Last, e.row)
	}
	if e.lifted {
		t.lifts.Add(e.lift)
	}
}

func (t *tally) spend(c cost) {
	t.Calls += c.calls
	t.Tokens += c.tokens
	t.FLOPs = finite(t.FLOPs + c.flops)
	t.Money = finite(t.Money + c.money)
}

// row returns the row as the page shows it, with its lift also in standard deviations of all lifts.
func (t *tally) row(name string, all shared.Lifts) ledgerRow {
	r := t.ledgerRow
	r.Name, r.Lift, r.LiftSE, r.LiftSD = name, t.lifts.Mean(), t.lifts.SE(), t.lifts.In(all)
	return r
}

// finite returns v, or 0 if it is not a finite number, which JSON cannot hold. Scores are finite, but the difference of
// two of them need not be.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// ledgerList returns the ledgers that have rows. Children of pulls that are not over may be made again, so they are
// added to copies of the rows each time.
func (l *runLog) ledgerList() []ledgerTable {
	now := ledgers{maps.Clone(l.ledgers.kinds)}
	for _, number := range slices.Sorted(maps.Keys(l.pulls)) {
		p := l.pulls[number]
		for _, at := range slices.Sorted(maps.Keys(p.entries)) {
			now.add(p.entries[at])
		}
	}
	list := []ledgerTable{}
	for _, kind := range ledgerKinds {
		ledger := ledgerTable{Kind: kind}
		for _, number := range now.numbers(kind) {
			t := now.kinds[ledgerKey{kind, number}]
			ledger.Rows = append(ledger.Rows, t.row(l.ledgerName(kind, number), now.kinds[ledgerKey{everything, 0}].lifts))
		}
		if len(ledger.Rows) > 0 {
			list = append(list, ledger)
		}
	}
	return list
}

// numbers returns the numbers of a kind's rows in order.
func (l *ledgers) numbers(kind string) (numbers []int) {
	for key := range l.kinds {
		if key.kind == kind {
			numbers = append(numbers, key.number)
		}
	}
	slices.Sort(numbers)
	return numbers
}

func (l *runLog) ledgerName(kind string, number int) string {
	if kind == "search" {
		return l.arms[number].name
	}
	return l.labels.names[number]
}
