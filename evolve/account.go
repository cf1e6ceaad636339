package evolve

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// An account is a Result while it is made: what arms brought, in the order it was taken in. Everything in it
// follows from that order and from nothing that depends on a clock, because a result made again from a journal
// has to be the same to the byte.
type account struct {
	res  *Result
	seen map[[sha256.Size]byte]bool // programs, by hash
	// evaluated holds the evaluations that count already. The first outcome that has one counts it, whichever
	// step made it, so that the count does not depend on which of two arms in flight was faster. The same holds for
	// what evaluations asked.
	evaluated map[journal.Key]bool
	asked     map[*asked]bool
}

func newAccount(arms []Arm) account {
	a := account{res: &Result{Arms: make([]ArmResult, len(arms))}, seen: make(map[[sha256.Size]byte]bool), evaluated: make(map[journal.Key]bool), asked: make(map[*asked]bool)}
	for i, arm := range arms {
		a.begin(i, arm.Best())
	}
	return a
}

// begin takes in what an arm begins with.
func (a *account) begin(arm int, start eval.Candidate) {
	a.res.Arms[arm].Start, a.res.Arms[arm].Best = start, start
	a.better(arm)
}

// start takes in what an arm spent before its first step, and returns how many calls were answered, how many
// attempts stalled, and how many evaluations are new.
func (a *account) start(arm int, spent Generation, scored []scoring) (calls, stalls, evaluations int) {
	a.count(&spent, scored)
	calls, stalls = counted(spent)
	a.res.Calls += calls
	a.res.Arms[arm].Asides = spent.Asides
	return calls, stalls, spent.Evaluations
}

// add takes in what a pull of the arm brought, and the evaluations that it asked for. It completes the
// generation: it counts its evaluations, adds the calls that they made, and marks the children whose program stood before. place is that of
// the generation in the arm's.
func (a *account) add(arm int, gen *Generation, scored []scoring) (place int) {
	a.count(gen, scored)
	a.mark(*gen)
	r := &a.res.Arms[arm]
	if len(r.Generations) == 0 {
		r.Start = gen.Before // evaluated by now
	}
	r.Best = gen.Best
	r.Generations = append(r.Generations, slim(*gen))
	calls, _ := counted(*gen)
	a.res.Calls += calls
	a.better(arm)
	return len(r.Generations) - 1
}

// count adds those evaluations to the generation and the result that are new, and the calls that they made.
func (a *account) count(gen *Generation, scored []scoring) {
	gen.Evaluations = 0
	slices.SortFunc(scored, func(x, y scoring) int { return bytes.Compare(x.key[:], y.key[:]) }) // they ended in any order
	for _, s := range scored {
		if !a.evaluated[s.key] {
			a.evaluated[s.key] = true
			gen.Evaluations++
		}
		if s.asked != nil && !a.asked[s.asked] {
			a.asked[s.asked] = true
			gen.Asides = append(gen.Asides, s.asked.calls...)
		}
	}
	a.res.Evaluations += gen.Evaluations
}

// counted returns how many calls of the generation brought an answer, and how many attempts stalled.
func counted(gen Generation) (calls, stalls int) {
	for attempts := range gen.EachCall {
		if answered(attempts) {
			calls++
		}
		for _, at := range attempts {
			if at.Status.Class() == llm.Stall {
				stalls++
			}
		}
	}
	return calls, stalls
}

// better takes over the arm's best candidate if it is the run's, or the first that was evaluated.
func (a *account) better(arm int) {
	best, old := a.res.Arms[arm].Best, a.res.Best
	unknown := !old.Result.Valid && old.Result.Reason == ""
	if best.Better(old) || unknown && (old.Program == "" || best.Result.Reason != "") {
		a.res.Best, a.res.BestArm = best, arm
	}
}

// mark marks the children whose program stood before, in the order of outcomes and children: which of two equal
// programs in flight was evaluated first is chance, which stands first in the result is not.
func (a *account) mark(g Generation) {
	a.repeated(g.Before.Program)
	for i := range g.Children {
		if c := &g.Children[i]; c.HasProgram() {
			c.Duplicate = a.repeated(c.Program)
		}
	}
}

// space is what two programs may differ by at their ends, and be the same.
const space = " \t\r\n"

// repeated reports whether program was given to it before.
func (a *account) repeated(program string) bool {
	sum := sha256.Sum256([]byte(strings.TrimRight(program, space)))
	before := a.seen[sum]
	a.seen[sum] = true
	return before
}
