package report

import (
	"iter"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// Ledgers has a row for each operator, selector, model, instruction and settings that children were made by: by kind and
// by name. Names are printable lines of at most 300 bytes, those of labels 200; of each kind the first 1000 have rows, and
// "others" has the rest. A page of the run's journal shows the same.
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
	Last *Last `json:"last_improvement,omitempty"`
}

// Last says which child it was.
type Last struct {
	Arm        int `json:"arm"` // 0 in the ledgers of an arm
	Generation int `json:"generation"`
	Index      int `json:"idx"`
}

// accountOf returns the run as a reader of its journal knows it, so that a page of the journal and the file say the same.
func accountOf(r *evolve.Result, active int64) *history.Builder {
	b := history.NewBuilder()
	b.Add(journal.Record{Kind: journal.Run, Models: []journal.Model{{ActiveParams: active}}})
	for i, arm := range r.Arms {
		b.Add(journal.Record{Kind: journal.Start, Arm: &i, Valid: arm.Start.Result.Valid, Score: arm.Start.Result.Score})
	}
	alike, told := countAlike(r), make([]int, len(r.Arms))
	i := -1
	for arm, g := range generations(r) {
		i++
		b.Add(journal.Record{Kind: journal.Draw, Pull: &i, Arm: &arm})
		for _, c := range g.Children {
			told[arm]++
			if alike[arm] {
				c.ID, c.Parents = told[arm], nil
			}
			b.Made(journal.Record{Kind: journal.Child, Pull: &i, Child: &c.Index, Step: g.Index, ID: c.ID, Parents: c.Parents, Operator: c.Operator, Labels: c.Labels,
				State: c.State(), Valid: c.Scored() && c.Result.Valid, Score: c.Result.Score}, c.Attempts)
		}
		b.Add(journal.Record{Kind: journal.Report, Pull: &i})
	}
	return b
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

// countAlike reports by arm whether two of its children share an ID, as in an arm of several searches: then nobody knows whose
// parent is meant.
func countAlike(r *evolve.Result) []bool {
	alike := make([]bool, len(r.Arms))
	for i, arm := range r.Arms {
		seen := map[int]bool{}
		for _, g := range arm.Generations {
			for _, c := range g.Children {
				alike[i] = alike[i] || seen[c.ID]
				seen[c.ID] = true
			}
		}
	}
	return alike
}

// ledgersOf returns the ledgers of one arm.
func ledgersOf(b *history.Builder, arm int) Ledgers {
	l, run := history.NewLedger(), b.Run()
	for row := range run.Children {
		if c := &run.Children[row]; c.Arm == arm {
			l.Add(c, row)
		}
	}
	return newLedgers(l, run, func(c *history.Child) *Last { return &Last{Generation: c.Step, Index: c.Index} })
}

// ledgersOfRun returns the ledgers of all arms together.
func ledgersOfRun(b *history.Builder) Ledgers {
	return newLedgers(b.Ledger(), b.Run(), func(c *history.Child) *Last { return &Last{c.Arm, c.Step, c.Index} })
}

// newLedgers returns the rows, nil if children name nothing but one model.
func newLedgers(l *history.Ledger, run *history.Run, last func(*history.Child) *Last) Ledgers {
	all := Ledgers{}
	for _, kind := range []string{history.ByOperator, history.BySelector, history.ByInstruction, history.BySettings, history.ByModel} {
		for _, t := range l.By(kind) {
			row := Ledger{Children: t.Children, Calls: t.Cost.Calls, Valid: t.Valid, FLOPs: t.Cost.FLOPs, Improved: t.Improved,
				Lift: t.Lifts.In(l.All().Lifts), Lifted: t.Lifts.N}
			if t.Last >= 0 {
				row.Last = last(&run.Children[t.Last])
			}
			if all[kind] == nil {
				all[kind] = map[string]Ledger{}
			}
			all[kind][t.Name] = row
		}
	}
	named := len(all[history.BySelector])+len(all[history.ByInstruction])+len(all[history.BySettings]) > 0 || len(all[history.ByModel]) > 1
	if !named && !l.Named() {
		return nil
	}
	return all
}
