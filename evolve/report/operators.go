package report

import (
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
)

// An Operator sums what the children of one operator cost, and what came of them. One that shows several programs costs
// several times the tokens of a rewrite, so operators are to be compared by tokens and not by children.
type Operator struct {
	Children int    `json:"children"`
	Calls    int    `json:"calls"`    // answered, as a budget counts them; a merge makes none
	Valid    int    `json:"valid"`    // children that are valid
	Improved int    `json:"improved"` // children strictly better than all that their search had before their step
	Tokens   Tokens `json:"tokens"`   // of all attempts, as far as they are known
}

// A Use sums the calls of one kind that were made beside the children.
type Use struct {
	Calls  int    `json:"calls"` // answered
	Tokens Tokens `json:"tokens"`
}

// operators returns what each operator's children cost, with the calls of their sessions; nil if no child has an
// operator.
func (a account) operators() map[string]Operator {
	if !a.Named() {
		return nil
	}
	of := map[string]Operator{}
	for _, t := range a.By(history.ByOperator) {
		of[t.Name] = Operator{t.Children, t.Cost.Calls, t.Valid, t.Improved, t.Cost.Tokens}
	}
	return of
}

// byKind returns what each kind of call beside the children cost, nil if there are none.
func byKind(arm evolve.ArmResult) map[string]Use {
	var of map[string]Use
	add := func(calls []evolve.Call) {
		for _, c := range calls {
			if of == nil {
				of = map[string]Use{}
			}
			u, cost := of[c.Kind], history.Prices(nil).Call(c.Attempts)
			of[c.Kind] = Use{u.Calls + cost.Calls, u.Tokens.Plus(cost.Tokens)}
		}
	}
	add(arm.Asides)
	for _, g := range arm.Generations {
		add(g.Asides)
	}
	return of
}
