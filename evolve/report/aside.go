package report

import "github.com/evoalloc/evoalloc/evolve"

// An Aside is a call that a step made beside its children: a judge's, a summary's, an evaluator's. It has a list
// of its own, as it has no fitness and must not count among n_children.
type Aside struct {
	Kind        string    `json:"kind"`
	Child       int       `json:"child,omitempty"` // ID of the child in whose session it was made
	Attempts    []Attempt `json:"attempts"`
	FinalStatus string    `json:"final_status"` // the last attempt's
}

func newAsides(calls []evolve.Call) (rows []Aside) {
	for _, c := range calls {
		row := Aside{Kind: c.Kind, Child: c.Child, Attempts: make([]Attempt, len(c.Attempts))}
		for i, a := range c.Attempts {
			row.Attempts[i] = newAttempt(i, a)
			row.FinalStatus = row.Attempts[i].Status
		}
		rows = append(rows, row)
	}
	return rows
}
