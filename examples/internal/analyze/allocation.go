package analyze

import (
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

// allocate computes how the runs of a bandit spent their calls. A study of single searches has no allocations.
func (s *study) allocate() {
	for _, f := range s.longest() {
		a, err := f.allocation()
		if err != nil {
			s.Open = append(s.Open, fmt.Sprintf("what %s did with its pulls: %s", f.From, plain(err)))
			continue
		}
		s.allocations = append(s.allocations, a)
		pulls, rank := []int(nil), make([]int, len(a.ranked))
		for i, arm := range a.ranked {
			rank[arm] = i
		}
		for _, arm := range f.spent.pulls {
			pulls = append(pulls, rank[arm])
		}
		s.ranked = append(s.ranked, pulls)
	}
	s.Found = append(s.Found, armsUsed(s.allocations)...)
}

// armsUsed says over how many arms runs spread their calls. It tells runs of one arm for what they are: single searches.
func armsUsed(runs []allocation) []string {
	effective, best, arms := 0.0, 0.0, 0
	for _, a := range runs {
		effective += a.effective / float64(len(runs))
		best, arms = best+a.share[0]/float64(len(runs)), len(a.share)
	}
	switch {
	case len(runs) == 0:
		return nil
	case effective < 1+1e-9 && arms > 1:
		return []string{fmt.Sprintf("all calls of each of %s went to one arm of %d, so they are single searches: "+
			"a policy such as ei begins few arms in few rounds, and a smaller N or a larger budget makes more of them",
			count(len(runs), "run"), arms)}
	}
	return []string{fmt.Sprintf("calls were spread over %.1f arms of %d (the effective number, mean of %s); "+
		"the best arm of a run got %.0f %% of them", effective, arms, count(len(runs), "run"), 100*best)}
}

// mostByCall bounds the calls of a run whose arms are compared call by call, since a file may name any number.
const mostByCall = 1 << 22

// allocation returns how the run spent its answered calls. Arms are compared call by call, as rounds differ in size.
func (f file) allocation() (allocation, error) {
	if f.unknown != nil {
		return allocation{}, f.unknown
	}
	if calls := f.AnsweredBy(f.Generations()); calls > mostByCall {
		return allocation{}, fmt.Errorf("%d calls are more than %d", calls, mostByCall)
	}
	var pulls []int
	best, pulled := make([][]float64, len(f.arms)), make([]int, len(f.arms))
	for k, scores := range f.arms {
		best[k] = scores[:1:1]
	}
	for round, arm := range f.spent.pulls {
		pulled[arm]++
		for range f.Answered[round+1] {
			pulls = append(pulls, arm)
			best[arm] = append(best[arm], best[arm][len(best[arm])-1])
		}
		best[arm][len(best[arm])-1] = f.arms[arm][pulled[arm]]
	}
	return allocate(pulls, best)
}

// longest returns the runs with pulls but those that are the beginning of another.
func (s *study) longest() []file {
	var fs []file
	for _, n := range s.Breadths {
		for _, f := range s.deepest[n] {
			if len(f.spent.pulls) > 0 || f.Arms > 0 && f.unknown != nil {
				fs = append(fs, f)
			}
		}
	}
	return fs
}

// pulls returns the figure of pulls over time, with arms ranked by their final score in the run.
func (s *study) pulls(p *problem) (plot.Pulls, bool) {
	d := plot.Pulls{Title: p.title() + s.Method + ", pulls by rank of the search at the end", Runs: s.ranked}
	for _, a := range s.allocations {
		for len(d.Arms) < len(a.ranked) {
			d.Arms = append(d.Arms, fmt.Sprintf("rank %d", len(d.Arms)+1))
		}
	}
	return d, len(d.Runs) > 0
}

// regret returns the figure of the regret of a problem's bandits, each up to its shortest run.
func (p *problem) regret(o options) (plot.Regret, bool, error) {
	d := plot.Regret{Title: p.title() + "regret against the best search alone", X: "answered calls",
		Panels: make([]plot.Panel, 1),
		Interval: "Mean; band: " + bootstrapped +
			". A search counts as staying where its log ends, so this is a lower bound."}
	for _, s := range p.Studies {
		if len(s.allocations) == 0 {
			continue
		}
		calls := math.MaxInt
		for _, a := range s.allocations {
			calls = min(calls, len(a.regret))
		}
		var xs []float64
		var regrets [][]float64
		for _, t := range depths(calls) {
			var regret []float64
			for _, a := range s.allocations {
				regret = append(regret, a.regret[t-1])
			}
			xs, regrets = append(xs, float64(t)), append(regrets, regret)
		}
		line, err := banded(o, regrets)
		if err != nil {
			return d, false, err
		}
		line.Name, line.X = s.Method, xs
		d.Panels[0].Lines = append(d.Panels[0].Lines, line)
	}
	return d, len(d.Panels[0].Lines) > 0, nil
}
