package analyze

import (
	"fmt"
	"maps"
	"slices"
)

// A budget is a method's runs with one budget of calls and one split.
type budget struct {
	T, N  int // the split; 0 where the search decides the breadth of each generation
	calls int
	files []file
}

// name returns the budget's name: "T=8 N=16", or "C=128" without a split.
func (b budget) name() string {
	if b.N == 0 {
		return fmt.Sprintf("C=%d", b.calls)
	}
	return fmt.Sprintf("T=%d N=%d", b.T, b.N)
}

// of returns a method's name with the split, unless the method decides its breadth.
func (b budget) of(method string) string {
	if b.N == 0 {
		return method
	}
	return method + " " + b.name()
}

// answered returns the answered calls of the run with the fewest.
func (b budget) answered() int {
	fewest := b.calls
	for _, f := range b.files {
		fewest = min(fewest, f.AnsweredBy(f.Generations()))
	}
	return fewest
}

// scores returns the best scores of the runs when so many calls were answered.
func (b budget) scores(calls int) []float64 {
	var scores []float64
	for _, f := range b.files {
		scores = append(scores, f.BestBy(calls))
	}
	return scores
}

// equal returns the answered calls at which budgets are compared: the most that all their runs have.
func equal(budgets ...budget) int {
	calls := budgets[0].calls
	for _, b := range budgets {
		calls = min(calls, b.answered())
	}
	return calls
}

// budgets returns the budgets at which the method can be compared, with their runs. A bandit may play differently with
// more calls ahead, so except for greedy search only finished runs planned for that budget count.
func (s *study) budgets() []budget {
	var all []budget
	if s.sized() {
		for _, calls := range s.calls() {
			all = append(all, budget{calls: calls})
		}
	} else {
		for _, c := range s.Cells {
			all = append(all, budget{T: c.T, N: c.N, calls: c.Calls()})
		}
	}
	for i := range all {
		all[i].files = s.having(all[i])
	}
	return slices.DeleteFunc(all, func(b budget) bool { return len(b.files) == 0 })
}

// having returns the runs with a budget.
func (s *study) having(b budget) (files []file) {
	if s.greedy() {
		for _, f := range s.deepest[b.N] {
			if f.Generations() >= b.T && (b.N > 0 || f.AnsweredBy(f.Generations()) >= b.calls) {
				files = append(files, f)
			}
		}
		return files
	}
	for _, f := range s.files {
		if f.Calls() == b.calls && (b.N == 0 || f.N == b.N) && !f.Early() {
			files = append(files, f)
		}
	}
	return files
}

// sized reports whether the method decides the calls of each generation, so that T and N of its runs are not a split.
func (s *study) sized() bool { return s.files[0].Breadth != "" }

// calls returns the budgets of a method that decides its breadth: powers of two, and those of its runs.
func (s *study) calls() []int {
	all := map[int]bool{}
	for _, f := range s.files {
		all[f.Calls()] = true
		for c := 1; c < f.Calls(); c *= 2 {
			all[c] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// A point is the mean best score after some answered calls, of a method that decides its breadth.
type point struct {
	Calls int     `json:"C"`
	Runs  int     `json:"runs"`
	Mean  float64 `json:"mean"`
}

// byCalls computes the points that all seeds have, from the least requested budget on.
func (s *study) byCalls() {
	files := s.deepest[0]
	for _, calls := range s.calls() {
		b := budget{calls: calls,
			files: slices.DeleteFunc(slices.Clone(files), func(f file) bool { return f.AnsweredBy(f.Generations()) < calls })}
		switch {
		case len(b.files) == 0:
		case len(b.files) < len(files):
			s.Missed++
		default:
			s.Points = append(s.Points, point{calls, len(files), mean(b.scores(calls))})
		}
	}
}
