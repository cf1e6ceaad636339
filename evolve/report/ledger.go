package report

import (
	"cmp"
	"iter"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
)

// Ledgers has a row for each operator, selector, model, proposer, instruction and settings that children were made by: by
// kind and by name. Names are printable lines of at most 300 bytes, those of labels 200; of each kind the first 1000 have
// rows, and "others" has the rest. A page of the run's journal shows the same.
type Ledgers map[string]map[string]Ledger

// A Ledger sums what came of the children that name something, and what they cost.
type Ledger struct {
	Children int     `json:"children"`
	Calls    int     `json:"calls"` // answered
	Valid    int     `json:"valid"`
	FLOPs    float64 `json:"flops"` // of all attempts, in the worst case
	// Improved are those strictly better than all that their search had before their step.
	Improved int `json:"improved"`
	// Lift is the mean of l = score − parent's score over the valid children of a valid parent, in standard deviations of
	// all such lifts of the arm, or in a [Bandit] of the run:
	//
	//	lift = l̄/s,  s² = Σ(l − l̄ₐ)²/(n − 1)
	//
	// with l̄ the mean of the row's, and l̄ₐ and s the mean and the standard deviation of all n. 0 if s is 0 or n < 2.
	Lift float64 `json:"mean_lift_sd"`
	// Lifted is of how many children Lift is the mean.
	Lifted int `json:"lifted"`
	// Last is the last improvement; nil without one.
	Last *lastChild `json:"last_improvement,omitempty"`
}

// A lastChild says which child it was.
type lastChild struct {
	Arm        int `json:"arm"` // 0 in the ledgers of an arm
	Generation int `json:"generation"`
	Index      int `json:"idx"`
}

// An account has the totals of the children of a run or of one of its arms.
type account struct {
	*history.Ledger
	place func(row int) lastChild
}

// A course is what is known of an arm while its children are counted.
type course struct {
	history.Course
	scores map[int]history.Score // by ID
}

// accounts counts the children of a run, and those of each of its arms, in which it has the number 0. What a search had
// before a step is known by its children alone, as to a reader of the journal, so that a page of the journal says the
// same.
func accounts(r *evolve.Result, active int64) (run account, arms []account) {
	var places []lastChild // of children, by row
	run = account{history.NewLedger(), func(row int) lastChild { return places[row] }}
	within := func(row int) lastChild {
		return lastChild{Generation: places[row].Generation, Index: places[row].Index}
	}
	prices := history.Prices{{ActiveParams: active}}
	courses := make([]course, len(r.Arms))
	for i, arm := range r.Arms {
		arms = append(arms, account{history.NewLedger(), within})
		start := history.Score{Value: arm.Start.Result.Score, Valid: arm.Start.Result.Valid}
		courses[i].Best, courses[i].scores = start, map[int]history.Score{0: start}
	}
	for arm, g := range generations(r) {
		courses[arm].begin(g.Children)
		sessions := sessionsOf(g)
		for _, c := range g.Children {
			child, parent := courses[arm].take(c, sessions[c.ID], prices)
			row := len(places)
			places = append(places, lastChild{arm, g.Index, c.Index})
			run.Add(&child, row, parent)
			arms[arm].Add(&child, row, parent)
		}
	}
	return run, arms
}

// sessionsOf returns the calls of each child's session, by its ID. A steady-state search has all of its children in one
// generation, so they must not be looked for child by child.
func sessionsOf(g evolve.Generation) map[int][]evolve.Call {
	of := map[int][]evolve.Call{}
	for _, aside := range g.Asides {
		if aside.Child > 0 {
			of[aside.Child] = append(of[aside.Child], aside)
		}
	}
	return of
}

// take returns a child as history has it, with the calls of its session, and the score of its parent.
func (c *course) take(of evolve.Child, session []evolve.Call, prices history.Prices) (child history.Child,
	parent history.Score) {
	score := scoreOf(of)
	child = history.Child{Model: history.ModelOf(of.Attempts), Cost: prices.Call(of.Attempts), Improved: c.Take(score),
		Proposal: books.Proposal{Operator: of.Operator, Proposer: of.Proposer, Labels: of.Labels, Valid: score.Valid,
			Score: score.Value}}
	for _, aside := range session {
		child.Cost = child.Cost.Plus(prices.Call(aside.Attempts))
		child.Model = cmp.Or(history.ModelOf(aside.Attempts), child.Model)
	}
	if len(of.Parents) > 0 {
		parent = c.scores[of.Parents[0]]
	}
	return child, parent
}

func scoreOf(c evolve.Child) history.Score {
	return history.Score{Value: c.Result.Score, Valid: c.Scored() && c.Result.Valid}
}

// begin begins a step that made these children: one of them may be the parent of another.
func (c *course) begin(children []evolve.Child) {
	c.Step()
	for _, child := range children {
		if child.ID > 0 { // else its search does not number its children
			c.scores[child.ID] = scoreOf(child)
		}
	}
}

// generations yields the generations with their arms: in the order of rounds, and then those that no round names.
func generations(r *evolve.Result) iter.Seq2[int, evolve.Generation] {
	return func(yield func(int, evolve.Generation) bool) {
		type place struct{ arm, generation int }
		seen := map[place]bool{}
		for _, round := range r.Rounds {
			at := place{round.Pull.Arm, round.Generation}
			if at.arm >= len(r.Arms) || at.generation >= len(r.Arms[at.arm].Generations) {
				continue
			}
			if seen[at] = true; !yield(at.arm, r.Arms[at.arm].Generations[at.generation]) {
				return
			}
		}
		for arm, of := range r.Arms {
			for i, g := range of.Generations {
				if !seen[place{arm, i}] && !yield(arm, g) {
					return
				}
			}
		}
	}
}

// ledgers returns the rows, nil if children name nothing but one model.
func (a account) ledgers() Ledgers {
	all := Ledgers{}
	for _, kind := range []string{history.ByOperator, history.BySelector, history.ByInstruction, history.BySettings,
		history.ByModel, history.ByProposer} {
		for _, t := range a.By(kind) {
			row := Ledger{Children: t.Children, Calls: t.Cost.Calls, Valid: t.Valid, FLOPs: t.Cost.FLOPs, Improved: t.Improved,
				Lift: t.Lifts.In(a.All().Lifts), Lifted: t.Lifts.N}
			if t.Last >= 0 {
				last := a.place(t.Last)
				row.Last = &last
			}
			if all[kind] == nil {
				all[kind] = map[string]Ledger{}
			}
			all[kind][t.Name] = row
		}
	}
	named := len(all[history.BySelector])+len(all[history.ByInstruction])+len(all[history.BySettings])+
		len(all[history.ByProposer]) > 0 ||
		len(all[history.ByModel]) > 1
	if !named && !a.Named() {
		return nil
	}
	return all
}
