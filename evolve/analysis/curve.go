package analysis

import (
	"cmp"
	"fmt"
)

// A Curve is the course of one search, or of a bandit over several, as far as it is analysed.
type Curve struct {
	Task, Model string // their keys; "" if unknown
	// Method is how the budget was spent: "greedy", the name of another search, or the bandit's short name. A breadth, a
	// number of arms and the searches that these are, unless all are greedy, are part of it.
	Method string
	// T and N are the plan: T generations of N children, a budget of T·N calls.
	T, N int
	// Breadth is what decided the number of children of each generation, at most N; "" means N in each. With a Breadth, T
	// and N only define a budget of T·N calls: a run of 64·64 calls may have 800 generations.
	Breadth string
	Ties    string // "taken" if a child that scores as its parent takes its place, which makes another search; else ""
	Seed    int64
	// Arms is how many searches share the budget of a bandit; 0 for a run of one search.
	Arms int
	Best []float64 // the best score after generation 0, 1, ...; 0 is the initial program. Of a bandit: after each round
	// Answered is the number of answered model calls in generation 0, 1, ...; generation 0 has those made before the
	// first. nil means N in each from 1 on.
	Answered []int
	Stop     string // why it ended: "budget", "target", ...; "" if unknown, as in the paper's files
	Partial  bool   // whether the last generation of Best was cut short
	From     string // the file it was read from; "" for none
}

// mostPlanned bounds T, N and the calls of a generation, so that their products fit.
const mostPlanned = 1 << 30

// Calls returns the budget, T·N.
func (r Curve) Calls() int { return r.T * r.N }

// Final returns the best score at the end.
func (r Curve) Final() float64 { return r.Best[len(r.Best)-1] }

// Generations returns how many generations the run has, without the initial program's.
func (r Curve) Generations() int { return len(r.Best) - 1 }

// AnsweredBy returns the number of answered calls up to the end of generation t. Children without an answer (timed out,
// failed, made without a model) are rows of a result, but not calls of a budget. It panics if the run has no generation
// t.
func (r Curve) AnsweredBy(t int) int {
	if t < 0 || t >= len(r.Best) {
		panic(fmt.Sprintf("analysis: AnsweredBy(%d) of a run with %d generations", t, r.Generations()))
	}
	if r.Answered == nil {
		return t * r.N
	}
	sum := 0
	for _, n := range r.Answered[:t+1] {
		sum += n
	}
	return sum
}

// BestBy returns the best score after calls answered calls: that of the last generation that ended with no more, or of
// the initial program if there is none.
func (r Curve) BestBy(calls int) float64 {
	best, sum := r.Best[0], 0
	for t, score := range r.Best {
		if sum += r.answered(t); sum > calls {
			break
		}
		best = score
	}
	return best
}

// answered returns how many calls were answered in generation t.
func (r Curve) answered(t int) int {
	switch {
	case r.Answered != nil:
		return r.Answered[t]
	case t == 0:
		return 0
	}
	return r.N
}

// Early reports whether the run ended before its T generations and before its T·N calls were answered; with a Breadth
// only the calls count. Its score is that of a smaller budget. If it ended at a target, leaving it out would leave out
// the best runs, and keeping its score would underestimate it.
func (r Curve) Early() bool {
	whole := r.Generations()
	if r.Partial {
		whole--
	}
	return (r.Breadth != "" || whole < r.T) && r.AnsweredBy(r.Generations()) < r.Calls()
}

// Reached returns the run's share of its plan: "3 of 8 generations", and with a Breadth "300 of 4096 calls".
func (r Curve) Reached() string {
	if r.Breadth != "" {
		return fmt.Sprintf("%d of %d calls", r.AnsweredBy(r.Generations()), r.Calls())
	}
	return fmt.Sprintf("%d of %d generations", r.Generations(), r.T)
}

// String names the run: "cp/offline/greedy T=8 N=16 seed 40".
func (r Curve) String() string {
	s := fmt.Sprintf("%s/%s/%s T=%d N=%d seed %d", r.Task, r.Model, r.Method, r.T, r.N, r.Seed)
	if r.From != "" {
		s += " in " + r.From
	}
	return s
}

// validate returns an error if the run cannot be analysed.
func (r Curve) validate() error {
	if err := checkBest(r.Best, "generations"); err != nil {
		return fmt.Errorf("analysis: %v has %w", r, err)
	}
	switch {
	case r.T < 1 || r.N < 1 || r.T > mostPlanned || r.N > mostPlanned:
		return fmt.Errorf("analysis: %v: need T and N of at least 1, and at most %d", r, mostPlanned)
	case r.Breadth != "" && r.Answered == nil:
		return fmt.Errorf("analysis: %v has the breadth %s and no answered calls: Answered must have those of each "+
			"generation", r, r.Breadth)
	case r.Answered != nil && len(r.Answered) != len(r.Best):
		return fmt.Errorf("analysis: %v has scores of %d generations and answered calls of %d",
			r, len(r.Best), len(r.Answered))
	}
	for g, n := range r.Answered {
		if n < 0 || n > mostPlanned {
			return fmt.Errorf("analysis: %v has %d answered calls in generation %d: need at least 0, and at most %d",
				r, n, g, mostPlanned)
		}
	}
	return nil
}

func compareKind(a, b Curve) int {
	return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Method, b.Method),
		cmp.Compare(a.Ties, b.Ties))
}

// validateRuns returns an error unless the runs are of one task, model, method and rule for ties, each is valid, and no
// two are equal. With early false it refuses runs that stopped early.
func validateRuns(runs []Curve, early bool) error {
	if len(runs) == 0 {
		return fmt.Errorf("analysis: no runs")
	}
	type plan struct {
		t, n int
		seed int64
	}
	seen := map[plan]Curve{}
	for _, r := range runs {
		if err := r.validate(); err != nil {
			return err
		}
		if compareKind(r, runs[0]) != 0 {
			return fmt.Errorf("analysis: %v and %v are of different tasks, models or methods, or take ties otherwise: their "+
				"scores are not comparable", runs[0], r)
		}
		p := plan{r.T, r.N, r.Seed}
		if r.Breadth != "" {
			p = plan{r.Calls(), 0, r.Seed}
		}
		if other, twice := seen[p]; twice {
			return fmt.Errorf("analysis: %v and %v are one seed: counted twice it would seem surer than it is, so leave one out",
				other, r)
		}
		seen[p] = r
		if r.Early() && !early {
			return fmt.Errorf("analysis: %v stopped early, with %s%s: resume it, or ask for early runs",
				r, r.Reached(), stopped(r.Stop))
		}
	}
	return nil
}

func stopped(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}
