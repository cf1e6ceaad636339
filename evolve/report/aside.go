package report

import "github.com/evoalloc/evoalloc/evolve"

// An asideRow is a call that a step made beside its children: a judge's, a summary's, an evaluator's. It has a list
// of its own, as it has no fitness and must not count among n_children.
type asideRow struct {
	Kind        string       `json:"kind"`
	Child       int          `json:"child,omitempty"` // ID of the child in whose session it was made
	Attempts    []attemptRow `json:"attempts"`
	FinalStatus string       `json:"final_status"` // the last attempt's
}

func newAsides(calls []evolve.Call) (rows []asideRow) {
	for _, c := range calls {
		row := asideRow{Kind: c.Kind, Child: c.Child, Attempts: make([]attemptRow, len(c.Attempts))}
		for i, a := range c.Attempts {
			row.Attempts[i] = newAttempt(i, a)
			row.FinalStatus = row.Attempts[i].Status
		}
		rows = append(rows, row)
	}
	return rows
}
