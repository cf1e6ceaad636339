package evolve

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/llm"
)

// An account is a Result while it is made: what arms brought, in the order in which it was taken in. All that it
// holds but times follows from that order and not from a clock, because a result that is made again from a
// journal has to be the same to the byte.
type account struct {
	res  *Result
	seen map[[sha256.Size]byte]bool // programs, by hash
	// evaluated holds the evaluations that were counted, and asked what evaluations asked of models. Both count for
	// the first outcome that has them, not for the step that made them. So no count depends on which of two arms
	// in flight was faster.
	evaluated map[record.Key]bool
	asked     map[*step.Asked]bool
	evalTime  time.Duration // that the evaluations took that were counted
	judged    int           // calls that these made of models, as far as they were answered
	tuned     []int         // tune evaluations, by arm
	costs     *allocation.Learner
}

func newAccount(arms []Arm) account {
	a := account{res: &Result{Arms: make([]ArmResult, len(arms))}, seen: make(map[[sha256.Size]byte]bool),
		evaluated: make(map[record.Key]bool), asked: make(map[*step.Asked]bool),
		tuned: make([]int, len(arms)), costs: allocation.NewLearner(len(arms))}
	for i, arm := range arms {
		a.begin(i, arm.Best())
	}
	return a
}

// begin takes in what an arm begins with. It is called before an arm's Start, so that a run that cannot begin has
// a result, and again after it with the score.
func (a *account) begin(arm int, start eval.Candidate) {
	a.res.Arms[arm].Start, a.res.Arms[arm].Best = start, start
	a.better(arm)
}

// start takes in what an arm spent before its first step, and returns how many calls were answered, how many
// attempts stalled, and how many evaluations are new.
func (a *account) start(arm int, spent Generation, scored []step.Evaluation) (calls, stalls, evaluations int) {
	a.count(&spent, scored)
	calls, stalls = counted(spent)
	a.res.Calls += calls
	a.res.Arms[arm].Asides = spent.Asides
	return calls, stalls, spent.Evaluations
}

// add takes in what a pull of the arm brought, and the evaluations that it asked for. It completes the
// generation: it counts its evaluations, adds the calls that they made, and marks the children whose program came
// before. place is the index of the generation among the arm's.
func (a *account) add(arm int, gen *Generation, scored []step.Evaluation) (place int) {
	a.count(gen, scored)
	a.tuned[arm] += gen.TuneEvaluations
	a.mark(*gen)
	r := &a.res.Arms[arm]
	if len(r.Generations) == 0 {
		r.Start = gen.Before // has a score now, also of an arm that is not a Starter
	}
	r.Best = gen.Best
	r.Generations = append(r.Generations, slim(*gen))
	calls, _ := counted(*gen)
	a.res.Calls += calls
	a.better(arm)
	return len(r.Generations) - 1
}

// count adds those evaluations to the generation and the result that are new, and the calls that they made.
func (a *account) count(gen *Generation, scored []step.Evaluation) {
	gen.Evaluations, gen.TuneEvaluations = 0, 0
	// Asides must stand in one order, and they ended in any.
	slices.SortFunc(scored, func(x, y step.Evaluation) int { return bytes.Compare(x.Key[:], y.Key[:]) })
	for _, s := range scored {
		if !a.evaluated[s.Key] {
			a.evaluated[s.Key] = true
			if s.Tuned {
				gen.TuneEvaluations++
			} else {
				gen.Evaluations++
				a.evalTime += s.Took
			}
		}
		if s.Asked != nil && !a.asked[s.Asked] {
			a.asked[s.Asked] = true
			made := callsOf(s.Asked.Calls())
			gen.Asides = append(gen.Asides, made...)
			for _, c := range made {
				if answered(c.Attempts) {
					a.judged++
				}
			}
		}
	}
	a.res.Evaluations += gen.Evaluations
	a.res.TuneEvaluations += gen.TuneEvaluations
}

// tunedBeside returns how many tune evaluations the other arms have made.
func (a *account) tunedBeside(arm int) (n int) {
	for i, of := range a.tuned {
		if i != arm {
			n += of
		}
	}
	return n
}

// counted returns how many calls of the generation brought an answer, and how many attempts stalled. It counts
// calls but attempts that stalled: a budget pays for answers, and each attempt that stalls costs time and tokens
// of its own.
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

// better makes the arm's best candidate the run's if it is better. While the run's best was not evaluated, one
// that was replaces it even if it is invalid, since its result says why.
func (a *account) better(arm int) {
	best, old := a.res.Arms[arm].Best, a.res.Best
	if arm == a.res.BestArm && old.Better(best) {
		// The arm has scored its best again, and it was luck. Whatever is the best now takes its place.
		a.res.Best = best
		for i := range a.res.Arms {
			if a.res.Arms[i].Best.Better(a.res.Best) {
				a.res.Best, a.res.BestArm = a.res.Arms[i].Best, i
			}
		}
		return
	}
	unknown := !old.Result.Valid && old.Result.Reason == ""
	if best.Better(old) || unknown && (old.Program == "" || best.Result.Reason != "") {
		a.res.Best, a.res.BestArm = best, arm
	}
}

// mark names the children's programs, and marks those whose program came before, in the order of outcomes and of
// children in them. That order is the same in replay. The order of evaluations is not: which of two equal programs in
// flight is evaluated first is chance.
func (a *account) mark(g Generation) {
	a.repeated(g.Before.Program)
	for i := range g.Children {
		if c := &g.Children[i]; c.HasProgram() {
			c.Duplicate = a.repeated(c.Program)
			c.Hash = record.KeyOf(c.Program).String()
		}
	}
}

// repeated reports whether it was called with the same program before. The memory of programs trims the same, so a
// child is a Duplicate exactly if its program was not evaluated again.
func (a *account) repeated(program string) bool {
	sum := sha256.Sum256([]byte(step.Trim(program)))
	before := a.seen[sum]
	a.seen[sum] = true
	return before
}

// scoreOf returns what the core has to know of a candidate.
func scoreOf(c eval.Candidate) allocation.Score {
	return allocation.Score{Valid: c.Result.Valid, Value: c.Result.Score}
}
