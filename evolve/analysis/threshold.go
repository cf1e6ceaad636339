package analysis

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// NotReached stands for the generation in which a score was reached, if it was not.
const NotReached = -1

// firstReach returns the first generation whose best score is at least score, or [NotReached]. 0 is the initial
// program.
func firstReach(best []float64, score float64) int {
	return slices.IndexFunc(best, func(v float64) bool { return v >= score }) // −1 is NotReached
}

// reliable returns the generation by which at least the given share of runs has reached a score: the ⌈share·R⌉-th
// smallest of first, what each of the R runs needed. It is [NotReached] if fewer runs than that reached it: a run
// that did not is censored, and only known to need more. It panics unless share is in (0, 1] and there are runs.
func reliable(first []int, share float64) int {
	if len(first) == 0 || !(share > 0 && share <= 1) {
		panic(fmt.Sprintf("analysis: Reliable(%d runs, share %v): need runs, and a share above 0, at most 1",
			len(first), share))
	}
	sorted := make([]int, len(first))
	for i, g := range first {
		if sorted[i] = g; g == NotReached {
			sorted[i] = math.MaxInt
		}
	}
	slices.Sort(sorted)
	// 0.9·10 must not become 10 by rounding, and a share of less than one run is one run.
	at := sorted[max(int(math.Ceil(share*float64(len(first))-1e-9)), 1)-1]
	if at == math.MaxInt {
		return NotReached
	}
	return at
}

// A Threshold is how long runs need to a score. Its two readings of "90 % reliably" differ twofold on real data, so
// both are there: a mean may pass a score that many runs miss.
type Threshold struct {
	Score   float64 `json:"score"`
	Share   float64 `json:"share"`
	Runs    int     `json:"runs"`
	Reached int     `json:"reached"` // runs that reached it at all
	// runs whose initial program has it; if that is all of them, 0 generations mean nothing
	AtStart int `json:"at_start"`
	// ByRuns is when the share of runs has reached it: see reliable.
	ByRuns Reach `json:"by_runs"`
	// ByMean is when the mean of the share of bootstrap samples has reached it, as the BaSE paper words it.
	ByMean Reach `json:"by_mean"`
}

// A Reach is when a score was reached.
type Reach struct {
	Generation int `json:"generation"` // [NotReached] if it was not. Of runs with a Breadth it is Calls
	// answered calls up to then: by runs their own order statistic, by mean the runs' mean; NotReached
	Calls float64 `json:"calls"`
}

// Threshold returns how long runs need to a score, for the given share of them. Calls are answered ones, not rows. It
// returns an error unless the runs are of one task, model and method with the same T and N, or with a Breadth the same
// T·N, none stopped early, and share is in (0, 1]. b.draws have one stratum: the runs in their order.
func (b Bootstrap) Threshold(runs []Curve, score, share float64) (Threshold, error) {
	if err := validateRuns(runs, false); err != nil {
		return Threshold{}, err
	}
	if !(share > 0 && share <= 1) || !finite(score) {
		return Threshold{}, fmt.Errorf("analysis: Threshold of score %v and share %v: need a number, and a share above 0, "+
			"at most 1", score, share)
	}
	if runs[0].Breadth != "" {
		if most := runs[0].Calls(); most > mostByCall {
			return Threshold{}, fmt.Errorf("analysis: %v has a budget of %d calls: a threshold of runs with a Breadth takes "+
				"at most %d", runs[0], most, mostByCall)
		}
		runs = byCall(runs)
	}
	for _, r := range runs {
		if r.T != runs[0].T || r.N != runs[0].N || len(r.Best) != len(runs[0].Best) {
			return Threshold{}, fmt.Errorf("analysis: %v with %d generations and %v with %d: thresholds take runs of one "+
				"depth and breadth", runs[0], runs[0].Generations(), r, r.Generations())
		}
	}
	sizes := []int{len(runs)}
	b, err := b.filled(sizes)
	if err != nil {
		return Threshold{}, err
	}
	t := Threshold{Score: score, Share: share, Runs: len(runs)}
	t.ByRuns = t.byRuns(runs)
	means := make([]int, b.Samples)
	b.each(sizes, func(i int, draw [][]int) { means[i] = firstInMean(runs, draw[0], score) })
	t.ByMean = Reach{reliable(means, share), NotReached}
	if g := t.ByMean.Generation; g != NotReached {
		sum := 0.0
		for _, r := range runs {
			sum += float64(r.AnsweredBy(g))
		}
		t.ByMean.Calls = sum / float64(len(runs))
	}
	return t, nil
}

// mostByCall bounds the memory that byCall takes: a file may name any budget.
const mostByCall = 1 << 24

// byCall returns runs with a Breadth as runs of T·N generations of one answered call, so that what is compared at equal
// generations is compared at equal calls. Calls beyond the budget are left out, and those before the first generation
// are its first.
func byCall(runs []Curve) []Curve {
	all := make([]Curve, len(runs))
	for i, r := range runs {
		best, sum := []float64{r.Best[0]}, 0
		for t, score := range r.Best {
			sum += r.answered(t)
			for len(best) <= min(sum, r.Calls()) {
				best = append(best, best[len(best)-1])
			}
			if sum < len(best) {
				best[sum] = score
			}
		}
		r.T, r.N, r.Breadth, r.Best, r.Answered = r.Calls(), 1, "", best, nil
		all[i] = r
	}
	return all
}

// byRuns counts the runs that reached the score, and returns when the share of them had.
func (t *Threshold) byRuns(runs []Curve) Reach {
	first, calls := make([]int, len(runs)), make([]int, len(runs))
	for i, r := range runs {
		first[i], calls[i] = firstReach(r.Best, t.Score), NotReached
		if first[i] == NotReached {
			continue
		}
		calls[i] = r.AnsweredBy(first[i])
		t.Reached++
		if first[i] == 0 {
			t.AtStart++
		}
	}
	return Reach{reliable(first, t.Share), float64(reliable(calls, t.Share))}
}

// firstInMean returns the first generation in which the mean of the runs drawn is at least score. The mean does not
// fall, as no run's best does. Distances from score are summed, and not scores, whose sum may be rounded below the
// score that all runs have.
func firstInMean(runs []Curve, drawn []int, score float64) int {
	last := len(runs[0].Best)
	g := sort.Search(last, func(g int) bool {
		above := 0.0
		for _, i := range drawn {
			above += runs[i].Best[g] - score
		}
		return above >= 0
	})
	if g == last {
		return NotReached
	}
	return g
}
