package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/history"
)

// armName returns how people call an arm.
func armName(a *history.Arm) string {
	name := fmt.Sprintf("search %d", a.Number+1)
	if a.Run > 1 {
		name = fmt.Sprintf("run %d, %s", a.Run, name)
	}
	if a.Seed != nil {
		name += fmt.Sprintf(", seed %d", *a.Seed)
	}
	return name
}

// armList returns what the page shows of the searches.
func armList(run *history.Run) []armState {
	list := make([]armState, 0, len(run.Arms))
	for i := range run.Arms {
		a := &run.Arms[i]
		list = append(list,
			armState{Name: armName(a), Start: a.Start.Value, Valid: a.Start.Valid, Program: shortKey(a.Start.Program)})
	}
	return list
}

// ledgers returns the tables that have rows.
func (l *runLog) ledgers(of *history.Sums) []ledgerTable {
	list := []ledgerTable{}
	add := func(kind string, rows []ledgerRow) {
		if len(rows) > 0 {
			list = append(list, ledgerTable{Kind: kind, Rows: rows})
		}
	}
	all := of.All.Lifts
	for _, kind := range history.Kinds() {
		var rows []ledgerRow
		for _, t := range of.By(kind) {
			rows = append(rows, newLedgerRow(t.Name, &t, all))
		}
		add(kind, rows)
	}
	var rows []ledgerRow
	for i, t := range l.run.ArmTotals() {
		if t.Children > 0 || t.Cost != (history.Cost{}) {
			rows = append(rows, newLedgerRow(armName(&l.run.Arms[i]), &t, all))
		}
	}
	add("search", rows)
	return list
}

// newLedgerRow returns a row as the page shows it, with its lift also in standard deviations of all lifts.
func newLedgerRow(name string, t *history.Totals, all history.Lifts) ledgerRow {
	return ledgerRow{Name: name, Children: t.Children, Valid: t.Valid, Improved: t.Improved, Last: t.Last,
		Lifted: t.Lifts.N, Lift: t.Lifts.Mean(), LiftSE: t.Lifts.SE(), LiftSD: t.Lifts.In(all),
		Calls: t.Cost.Calls, Tokens: t.Cost.Tokens.All(), FLOPs: t.Cost.FLOPs, Money: t.Cost.Money}
}

// endpoints returns what the page shows of the endpoints, in the order in which they were asked first.
func endpoints(run *history.Run) []endpointState {
	list := []endpointState{}
	for i := range run.Endpoints {
		e := &run.Endpoints[i]
		errors := messages(e.Errors)
		slices.SortStableFunc(errors, func(a, b message) int { return b.Count - a.Count })
		list = append(list,
			endpointState{Name: e.Name, Statuses: maps.Clone(e.Statuses), Latency: e.Latency().Seconds(), Errors: errors})
	}
	return list
}

// messages returns notes as the page has them.
func messages(notes []*history.Note) []message {
	list := make([]message, 0, len(notes))
	for _, n := range notes {
		list = append(list, message(*n))
	}
	return list
}

// byTime orders messages by time.
func byTime(list []message) []message {
	slices.SortStableFunc(list, func(a, b message) int { return cmp.Compare(a.Time, b.Time) })
	return list
}
