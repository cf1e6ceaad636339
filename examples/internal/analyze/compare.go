package analyze

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// A comparison is one method against another at equal answered calls.
type comparison struct {
	T          int                  `json:"T,omitempty"` // of both; 0 if they split the budget in other ways
	N          int                  `json:"N,omitempty"`
	Calls      int                  `json:"C"`
	Answered   int                  `json:"answered"` // less than C if no more calls of some run were answered
	First      string               `json:"first"`
	Second     string               `json:"second"`
	FirstRuns  int                  `json:"first_runs"`
	SecondRuns int                  `json:"second_runs"`
	Result     *analysis.Comparison `json:"result,omitempty"` // nil with too few runs
	Words      string               `json:"words"`
}

// compare compares each method with the first, which is greedy if present, at equal answered calls of the same T and N,
// or of the same budget if one of them decides its breadth. Equal seeds of two methods are unrelated, so runs are not
// paired.
func compare(o options, studies []*study) ([]comparison, error) {
	first := 0
	for i, s := range studies {
		if s.greedy() {
			first = i
			break
		}
	}
	var all []comparison
	for i, s := range studies {
		if i == first {
			continue
		}
		for _, x := range s.budgets() {
			for _, y := range studies[first].budgets() {
				if x.calls != y.calls || x.N > 0 && y.N > 0 && x.N != y.N {
					continue
				}
				got, err := newComparison(o, s.Method, studies[first].Method, x, y)
				if err != nil {
					return nil, err
				}
				all = append(all, got)
			}
		}
	}
	return all, nil
}

func newComparison(o options, first, second string, a, b budget) (comparison, error) {
	c := comparison{First: a.of(first), Second: b.of(second), Calls: a.calls, Answered: equal(a, b)}
	where := fmt.Sprintf("C=%d", c.Calls)
	if a.N == b.N && a.N > 0 {
		c.T, c.N, c.First, c.Second, where = a.T, a.N, first, second, a.name()
	}
	if c.Answered < c.Calls {
		where += fmt.Sprintf(" at %d answered calls", c.Answered)
	}
	x, y := a.scores(c.Answered), b.scores(c.Answered)
	c.FirstRuns, c.SecondRuns = len(x), len(y)
	head := fmt.Sprintf("%s: %s (n = %d) against %s (n = %d): ", where, c.First, len(x), c.Second, len(y))
	if min(len(x), len(y)) < fewSeeds {
		c.Words = head + fmt.Sprintf("nothing can be said; it takes %d runs of each at least, better ten", fewSeeds)
		return c, nil
	}
	result, err := o.bootstrap().Unpaired(analysis.Scores{x}, analysis.Scores{y})
	if err != nil {
		return c, err
	}
	c.Result = &result
	d := result.Difference
	c.Words = head + fmt.Sprintf("difference %s, better in %.0f %% of pairs [%.0f, %.0f]: %s", interval(d),
		100*result.Improvement.Value, 100*result.Improvement.Low, 100*result.Improvement.High, c.verdict(d))
	return c, nil
}

// enoughRuns is the least number of runs at which a percentile interval of a difference is trusted. With fewer it is
// too narrow: for ten normal scores a 95 % interval of the mean covers about 90 %.
const enoughRuns = 10

// verdict returns which method is better, as far as the interval tells.
func (c comparison) verdict(d analysis.Interval) string {
	better := c.First
	if d.High < 0 {
		better = c.Second
	}
	n := min(c.FirstRuns, c.SecondRuns)
	switch {
	case d.Contains(0):
		more, err := analysis.RunsFor(n, d.Width(), d.Width()/2)
		if err != nil { // all runs have equal scores
			return "no difference was seen"
		}
		return fmt.Sprintf("cannot be told apart yet; %d more runs of each would halve the interval", more-n)
	case n < enoughRuns:
		return fmt.Sprintf("%s may be better; intervals of fewer than %d runs are too narrow to be sure", better, enoughRuns)
	}
	return better + " is better"
}
