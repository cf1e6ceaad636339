package sweep

import (
	"cmp"
	"fmt"
	"slices"
)

// defaultAlpha is the default of Comparison.Alpha.
const defaultAlpha = 0.05

// A Side is one side of a [Comparison]: a method with its breadth.
type Side struct {
	Method string
	N      int
}

// String returns "greedy:16".
func (s Side) String() string { return fmt.Sprintf("%s:%d", s.Method, s.N) }

// A Comparison asks which of two methods wins more often with a budget: whether the probability that A scores higher
// than B with the same seed, ties counted half, is above or below ½. It is decided once a confidence sequence for that
// probability (see confidence) excludes ½. So it may be checked after every seed, and a wrong decision still has a
// probability of at most Alpha.
//
// Each pair is compared at equal answered calls. If calls of a greedy run failed, which it does not make up for, the
// other side's finds after as many answered calls do not count.
//
// Scores are compared by rank and not by difference, because a sequence needs bounds, and not every task's scores have
// a known maximum.
//
// Pairs enter in the order of the plan's seeds. A finished pair waits for earlier ones, because whether a run is quick,
// or ends at all, may depend on its scores.
type Comparison struct {
	A, B  Side
	Calls int // the budget C, one of the plan's
	// Alpha is the probability that any of the comparison's decisions is wrong; 0 means 0.05. There is one decision for
	// each task and model of the plan, each with an equal share of Alpha, and the comparison is decided when all are.
	Alpha float64
}

// String returns "greedy:16 against greedy:4 with 128 calls".
func (c Comparison) String() string {
	return fmt.Sprintf("%v against %v with %d calls", c.A, c.B, c.Calls)
}

func (c Comparison) validate(p Plan) error {
	for _, side := range []Side{c.A, c.B} {
		if !slices.ContainsFunc(p.Methods,
			func(m Method) bool { return m.Name == side.Method && m.N == side.N && c.Calls%m.N == 0 }) {
			return fmt.Errorf("sweep: the comparison of %v: the plan has no cell of %v", c, side)
		}
	}
	switch {
	case c.A == c.B:
		return fmt.Errorf("sweep: the comparison of %v: both sides are the same", c)
	case !slices.Contains(p.Budgets, c.Calls):
		return fmt.Errorf("sweep: the comparison of %v: the plan's budgets are %v", c, p.Budgets)
	case !(c.Alpha >= 0 && c.Alpha < 1):
		return fmt.Errorf("sweep: the comparison of %v: Alpha is %v: need more than 0, and less than 1", c, c.Alpha)
	}
	return nil
}

// A Verdict is the state of a [Comparison] for one task and model.
type Verdict struct {
	Comparison
	Task, Model string
	Pairs       int     // seeds that both sides have
	Wins        float64 // share of pairs that A wins, ties counted half
	Low, High   float64 // confidence sequence for the probability that A wins, at the decision or else now
	Decided     bool
}

// Winner returns the side that wins more often, and false if the comparison is undecided.
func (v Verdict) Winner() (Side, bool) {
	if v.Low > 0.5 {
		return v.A, v.Decided
	}
	return v.B, v.Decided
}

// A board keeps the comparisons of a sweep.
type board struct {
	seeds []uint32
	duels []*duel
}

// A duel is a comparison for one task and model.
type duel struct {
	Verdict
	sequence *confidence
	courses  map[Cell][]row // of seeds not yet in the sequence
}

func newBoard(p Plan, list []Comparison) *board {
	b := &board{seeds: p.Seeds}
	for _, c := range list {
		alpha := cmp.Or(c.Alpha, defaultAlpha) / float64(len(p.Tasks)*len(p.Models))
		for _, t := range p.Tasks {
			for _, m := range p.Models {
				b.duels = append(b.duels,
					&duel{Verdict{Comparison: c, Task: t.Name(), Model: m.Spec.Key, High: 1}, newConfidence(alpha), map[Cell][]row{}})
			}
		}
	}
	return b
}

// add takes in the rows of a cell.
func (b *board) add(c Cell, rows []row) {
	for _, d := range b.duels {
		side := Side{c.Method, c.N}
		if c.Task != d.Task || c.Model != d.Model || c.Calls() != d.Calls || side != d.A && side != d.B {
			continue
		}
		d.courses[c] = rows
		for d.next(b.seeds) {
		}
	}
}

// next moves the next pair into the sequence, if both of its courses are known.
func (d *duel) next(seeds []uint32) bool {
	if d.Decided || d.Pairs == len(seeds) {
		return false
	}
	of := func(s Side) Cell {
		return Cell{Task: d.Task, Model: d.Model, Method: s.Method, N: s.N, T: d.Calls / s.N, Seed: seeds[d.Pairs]}
	}
	a, haveA := d.courses[of(d.A)]
	b, haveB := d.courses[of(d.B)]
	if !haveA || !haveB {
		return false
	}
	delete(d.courses, of(d.A))
	delete(d.courses, of(d.B))
	calls := min(a[len(a)-1].Calls, b[len(b)-1].Calls)
	d.sequence.add(float64(cmp.Compare(bestBy(a, calls), bestBy(b, calls))+1) / 2)
	d.Pairs++
	d.Wins = d.sequence.mean()
	d.Low, d.High = d.sequence.interval()
	d.Decided = d.sequence.excludes(0.5)
	return true
}

// bestBy returns the best score after calls answered calls: that of the last row with no more.
func bestBy(rows []row, calls int) float64 {
	best := rows[0].Best
	for _, r := range rows[1:] {
		if r.Calls > calls {
			break
		}
		best = r.Best
	}
	return best
}

// decided reports whether there are comparisons and all are decided.
func (b *board) decided() bool {
	return len(b.duels) > 0 && !slices.ContainsFunc(b.duels, func(d *duel) bool { return !d.Decided })
}

func (b *board) verdicts() []Verdict {
	var list []Verdict
	for _, d := range b.duels {
		list = append(list, d.Verdict)
	}
	return list
}
