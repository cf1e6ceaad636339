package analyze

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// reliably is the share of runs, or of bootstrap samples, that a score has to be reached in.
const reliably = 0.9

// parseScores returns the scores of a list.
func parseScores(list string) ([]float64, error) {
	var scores []float64
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, cli.Usagef("--scores %q: %w", list, err)
		}
		scores = append(scores, v)
	}
	return scores, nil
}

// A reached is how many calls the runs of one breadth and depth took to a score.
type reached struct {
	T int `json:"T"`
	N int `json:"N"`
	analysis.Threshold
}

// reach works out how many calls it takes to each score, for every breadth with seeds enough.
func (s *study) reach(o options) error {
	for _, score := range o.levels {
		for _, n := range s.Breadths {
			var runs []analysis.Run
			for _, f := range s.deepest[n] {
				runs = append(runs, f.Run)
			}
			if len(runs) < fewSeeds || !alike(runs) {
				s.Open = append(s.Open, fmt.Sprintf("how soon N = %d reaches %s: it takes %d seeds of one T", n, short(score), fewSeeds))
				continue
			}
			t, err := o.bootstrap().Threshold(runs, score, reliably)
			if err != nil {
				return err
			}
			s.Reached = append(s.Reached, reached{runs[0].T, n, t})
			s.Found = append(s.Found, sayReached(n, t))
		}
	}
	return nil
}

// alike reports whether the runs have one T and as many generations.
func alike(runs []analysis.Run) bool {
	for _, r := range runs {
		if r.T != runs[0].T || r.Generations() != runs[0].Generations() {
			return false
		}
	}
	return true
}

// sayReached has both readings of "reached in 90 %": of runs, and of means over bootstrap samples.
func sayReached(n int, t analysis.Threshold) string {
	head := fmt.Sprintf("N = %d reaches %s in %d of %s", n, strconv.FormatFloat(t.Score, 'g', -1, 64), t.Reached, count(t.Runs, "run"))
	if t.AtStart == t.Runs {
		return head + ", all of them before the first call: no search is needed"
	}
	return fmt.Sprintf("%s: %.0f %% of runs have it %s, and %.0f %% of bootstrap means %s", head, 100*reliably, after(t.ByRuns), 100*reliably, after(t.ByMean))
}

func after(r analysis.Reach) string {
	if r.Generation == analysis.NotReached {
		return "not within the budget"
	}
	return fmt.Sprintf("after %s calls", strconv.FormatFloat(r.Calls, 'f', -1, 64))
}
