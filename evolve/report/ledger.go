package report

import (
	"cmp"
	"slices"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/ledgers"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// Ledgers has a row for each operator, selector, model, instruction and settings that children were made by: by kind and
// by name. It counts what a run tells of its children, as evolve/view does of a journal, and so comes to the same. Names are printable lines of at most 300 bytes, those of labels 200; of each kind the first 1000 have rows, and "others" has the rest.
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

// mostNames is how many names of a kind have rows of their own.
const mostNames = 1000

// books are ledgers while they grow.
type books struct {
	active int64 // parameters of a model that does not say
	rows   map[string]map[string]*page
	all    ledgers.Lifts
	named  bool // a child names more than that a model made it
	arms   map[int]*course
}

// A page is a Ledger while it grows.
type page struct {
	Ledger
	lifts ledgers.Lifts
}

// A course is what ledgers know of an arm.
type course struct {
	best   eval.Candidate
	scores map[int]eval.Candidate // by ID; without programs. nil if two children share an ID, as in an arm of several searches
}

func newBooks(active int64) *books {
	return &books{active: active, rows: map[string]map[string]*page{}, arms: map[int]*course{}}
}

// open begins with an arm.
func (b *books) open(at int, arm evolve.ArmResult) {
	c := &course{best: scoreAlone(arm.Start), scores: map[int]eval.Candidate{0: scoreAlone(arm.Start)}}
	b.arms[at] = c
	seen := map[int]bool{}
	for _, g := range arm.Generations {
		for _, child := range g.Children {
			if seen[child.ID] {
				c.scores = nil
				return
			}
			seen[child.ID] = true
		}
	}
}

func scoreAlone(c eval.Candidate) eval.Candidate {
	return eval.Candidate{Result: eval.Result{Valid: c.Result.Valid, Score: c.Result.Score}}
}

// add takes in a generation. What a search had before it is known by its children alone, as to a reader of the journal.
func (b *books) add(at int, g evolve.Generation) {
	arm := b.arms[at]
	before := arm.best
	arm.learn(g.Children)
	for _, c := range g.Children {
		lift, lifted := arm.lift(c)
		if lifted {
			b.all.Add(lift)
		}
		sum := flops.Sum(slices.Values(c.Attempts), b.active, flops.WorstCase)
		better := c.Scored() && c.Better(before)
		for kind, name := range b.names(c) {
			p := b.page(kind, name)
			p.add(c, sum.TotalFLOPs)
			if lifted {
				p.lifts.Add(lift)
			}
			if better {
				p.Improved++
				p.Last = &Last{at, g.Index, c.Index}
			}
		}
	}
}

// add counts a child and what it cost.
func (p *page) add(c evolve.Child, flops float64) {
	p.Children++
	p.FLOPs += flops
	if c.Answered() {
		p.Calls++
	}
	if c.Scored() && c.Result.Valid {
		p.Valid++
	}
}

// learn takes in what a step's children score. In a steady-state search one may be the parent of another, whichever comes
// first by index.
func (a *course) learn(children []evolve.Child) {
	for _, c := range children {
		if !c.Scored() {
			continue
		}
		if a.scores != nil {
			a.scores[c.ID] = scoreAlone(c.Candidate)
		}
		if c.Better(a.best) {
			a.best = scoreAlone(c.Candidate)
		}
	}
}

// lift returns by how much a child is better than the program that it was made from first.
func (a *course) lift(c evolve.Child) (lift float64, known bool) {
	if a.scores == nil || len(c.Parents) == 0 || !c.Scored() || !c.Result.Valid {
		return 0, false
	}
	parent, ok := a.scores[c.Parents[0]]
	if !ok || !parent.Result.Valid {
		return 0, false
	}
	return c.Result.Score - parent.Result.Score, true
}

// names returns what a child names, by kind.
func (b *books) names(c evolve.Child) map[string]string {
	names := map[string]string{"operator": cmp.Or(ledgers.Name(c.Operator), ledgers.PlainRewrite)}
	b.named = b.named || c.Operator != ""
	for _, kind := range ledgers.Labels() {
		if name := ledgers.Label(c.Labels[kind]); name != "" {
			names[kind], b.named = name, true
		}
	}
	if model := ledgers.Name(modelOf(c.Attempts)); model != "" {
		names["model"] = model
	}
	return names
}

// modelOf returns the model that was asked last, "" if attempts name none.
func modelOf(attempts []llm.Attempt) (name string) {
	for _, a := range attempts {
		name = cmp.Or(a.Model, name)
	}
	return name
}

// page returns the row of a name.
func (b *books) page(kind, name string) *page {
	of := b.rows[kind]
	if of == nil {
		of = map[string]*page{}
		b.rows[kind] = of
	}
	if of[name] == nil && len(of) >= mostNames {
		name = ledgers.Others
	}
	if of[name] == nil {
		of[name] = &page{}
	}
	return of[name]
}

// ledgers returns the rows, nil if children name nothing but one model.
func (b *books) ledgers() Ledgers {
	if !b.named && len(b.rows["model"]) < 2 {
		return nil
	}
	all := Ledgers{}
	for kind, of := range b.rows {
		all[kind] = map[string]Ledger{}
		for name, p := range of {
			p.Lift, p.Lifted = p.lifts.In(b.all), p.lifts.N
			all[kind][name] = p.Ledger
		}
	}
	return all
}

// ledgersOf returns the ledgers of one arm.
func ledgersOf(arm evolve.ArmResult, active int64) Ledgers {
	b := newBooks(active)
	b.open(0, arm)
	for _, g := range arm.Generations {
		b.add(0, g)
	}
	return b.ledgers()
}

// ledgersOfRun returns the ledgers of all arms together, with generations in the order of rounds.
func ledgersOfRun(r *evolve.Result, active int64) Ledgers {
	b := newBooks(active)
	for i, arm := range r.Arms {
		b.open(i, arm)
	}
	for _, round := range r.Rounds {
		b.add(round.Pull.Arm, r.Arms[round.Pull.Arm].Generations[round.Generation])
	}
	return b.ledgers()
}
