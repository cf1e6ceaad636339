package analyze

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// reliably is the share of runs, or of bootstrap samples, that must reach a score.
const reliably = 0.9

// parseScores returns the scores of a list.
func parseScores(list string) ([]float64, error) {
	var scores []float64
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, cli.Usagef("--scores %q: %q is no score", list, word)
		}
		scores = append(scores, v)
	}
	return scores, nil
}

// A reached is the number of calls in which runs of one breadth and depth reached a score.
type reached struct {
	T int `json:"T"`
	N int `json:"N"`
	analysis.Threshold
}

// reach computes the calls needed for each score, for every breadth with enough seeds.
func (s *study) reach(o options) error {
	for _, score := range o.levels {
		for _, n := range s.Breadths {
			var runs []analysis.Curve
			for _, f := range s.deepest[n] {
				runs = append(runs, f.Curve)
			}
			if len(runs) < fewSeeds || !alike(runs) {
				s.Open = append(s.Open,
					fmt.Sprintf("how soon %s reaches %s: it takes %d seeds of one %s", s.breadth(n), short(score), fewSeeds, s.plan()))
				continue
			}
			t, err := o.bootstrap().Threshold(runs, score, reliably)
			if err != nil {
				return err
			}
			s.Reached = append(s.Reached, reached{runs[0].T, n, t})
			s.Found = append(s.Found, sayReached(s.breadth(n), t))
		}
	}
	return nil
}

// breadth returns the name of a breadth of the method: "N = 4", or the method's own if that decides.
func (s *study) breadth(n int) string {
	if n == 0 {
		return s.Method
	}
	return fmt.Sprintf("N = %d", n)
}

// plan returns what runs must share for their calls to a score to be comparable.
func (s *study) plan() string {
	if s.sized() {
		return "budget"
	}
	return "T"
}

// alike reports whether the runs have equal T and numbers of generations, or one budget that all spent.
func alike(runs []analysis.Curve) bool {
	for _, r := range runs {
		if r.Breadth != "" {
			if r.Calls() != runs[0].Calls() || r.Early() {
				return false
			}
			continue
		}
		if r.T != runs[0].T || r.Generations() != runs[0].Generations() {
			return false
		}
	}
	return true
}

// sayReached returns both readings of "reached in 90 %": of runs, and of means over bootstrap samples.
func sayReached(breadth string, t analysis.Threshold) string {
	head := fmt.Sprintf("%s reaches %s in %d of %s", breadth, strconv.FormatFloat(t.Score, 'g', -1, 64), t.Reached,
		count(t.Runs, "run"))
	if t.AtStart == t.Runs {
		return head + ", all of them before the first call: no search is needed"
	}
	return fmt.Sprintf("%s: %.0f %% of runs have it %s, and %.0f %% of bootstrap means %s",
		head, 100*reliably, after(t.ByRuns), 100*reliably, after(t.ByMean))
}

func after(r analysis.Reach) string {
	if r.Generation == analysis.NotReached {
		return "not within the budget"
	}
	return fmt.Sprintf("after %s calls", strconv.FormatFloat(r.Calls, 'f', -1, 64))
}
