package report

import (
	"cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
)

// An Operator sums what the children of one operator cost, and what came of them. One that shows several programs costs
// several times the tokens of a rewrite, so operators are to be compared by tokens and not by children.
type Operator struct {
	Children int    `json:"children"`
	Calls    int    `json:"calls"`    // answered, as a budget counts them; a merge makes none
	Valid    int    `json:"valid"`    // children that are valid
	Improved int    `json:"improved"` // children strictly better than the search's best when the step began
	Tokens   Tokens `json:"tokens"`   // of all attempts, as far as they are known
}

// A Use sums the calls of one kind that were made beside the children.
type Use struct {
	Calls  int    `json:"calls"` // answered
	Tokens Tokens `json:"tokens"`
}

// byOperator returns what each operator's children cost, nil if no child has an operator.
func byOperator(arm evolve.ArmResult) map[string]Operator {
	of, named := map[string]Operator{}, false
	for _, g := range arm.Generations {
		made := map[int]string{} // by what, by the child's ID
		for _, c := range g.Children {
			named = named || c.Operator != ""
			name := cmp.Or(c.Operator, history.PlainRewrite)
			of[name] = of[name].plus(c, g.Before)
			made[c.ID] = name
		}
		for _, c := range g.Asides {
			if name, ok := made[c.Child]; ok && c.Child > 0 { // a call of its session
				o, cost := of[name], history.Prices(nil).Call(c.Attempts)
				o.Calls, o.Tokens = o.Calls+cost.Calls, o.Tokens.Plus(cost.Tokens)
				of[name] = o
			}
		}
	}
	if !named {
		return nil
	}
	return of
}

// plus returns o with a child counted.
func (o Operator) plus(c evolve.Child, before eval.Candidate) Operator {
	cost := history.Prices(nil).Call(c.Attempts)
	o.Children++
	o.Calls, o.Tokens = o.Calls+cost.Calls, o.Tokens.Plus(cost.Tokens)
	if c.Scored() && c.Result.Valid {
		o.Valid++
	}
	if c.Scored() && c.Better(before) {
		o.Improved++
	}
	return o
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
