package analyze

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// A study is the analysis of depth and breadth of one method's runs.
type study struct {
	Method   string            `json:"method"`
	Runs     int               `json:"runs"`
	Breadths []int             `json:"breadths"` // 0: the search decides how many calls a generation has
	Seeds    int               `json:"seeds"`    // of the breadth that has the fewest
	Cells    []analysis.Cell   `json:"cells"`
	Short    []analysis.Cell   `json:"cells_left_out,omitempty"` // that not all searches of their breadth reach
	Points   []point           `json:"points,omitempty"`         // instead of cells, where the search decides the breadth
	Missed   int               `json:"points_left_out,omitempty"`
	Surface  *analysis.Surface `json:"surface,omitempty"`
	// Intervals are those of the surface and of the best splits, or nil, for a reason in Open.
	Intervals *analysis.SurfaceIntervals `json:"intervals,omitempty"`
	Rivals    []analysis.Rival           `json:"rivals,omitempty"` // models that the surface has to beat
	HeldOut   []analysis.HeldOut         `json:"held_out,omitempty"`
	Envelope  []analysis.EnvelopePoint   `json:"envelope,omitempty"`
	Reached   []reached                  `json:"reached,omitempty"`
	Found     []string                   `json:"found"` // in words
	Open      []string                   `json:"open"`  // what cannot be said yet, and why

	files   []file
	deepest map[int][]file // by breadth: each seed's deepest file
	grid    *analysis.Grid
	// of a bandit, by run
	allocations []allocation
	ranked      [][]int // the pulls, by rank of the arm
}

// fewSeeds is the least number of seeds for any statement.
const fewSeeds = 3

func newStudy(o options, files []file) (*study, error) {
	s := &study{Method: files[0].Method, Runs: len(files), files: files, deepest: deepest(files)}
	s.Breadths = slices.Sorted(maps.Keys(s.deepest))
	s.Seeds = len(s.deepest[s.Breadths[0]])
	for _, of := range s.deepest {
		s.Seeds = min(s.Seeds, len(of))
	}
	runs := make([]analysis.Curve, len(files))
	for i, f := range files {
		runs[i] = f.Curve
	}
	if s.sized() {
		if s.byCalls(); len(s.Points) == 0 {
			return nil, fmt.Errorf("analysis: %s: no number of calls was reached by all of its %s",
				s.Method, count(s.Seeds, "seed"))
		}
	} else {
		var err error
		if s.grid, err = analysis.NewGrid(runs, o.grid()); err != nil {
			return nil, err
		}
		s.Cells, s.Short = s.grid.Cells, s.grid.Short
		s.fit(o)
	}
	s.allocate()
	s.sayShared()
	s.say()
	return s, s.reach(o)
}

// deepest returns each seed's deepest file, by breadth: the other files are its beginning. Files of a method that
// decides its breadth are under 0.
func deepest(files []file) map[int][]file {
	type search struct {
		n    int
		seed int64
	}
	at, all := map[search]int{}, map[int][]file{}
	for _, f := range files {
		n := f.N
		if f.Breadth != "" {
			n = 0
		}
		key := search{n, f.Curve.Seed}
		switch i, known := at[key]; {
		case !known:
			at[key] = len(all[n])
			all[n] = append(all[n], f)
		case all[n][i].goes() < f.goes():
			all[n][i] = f
		}
	}
	return all
}

// goes returns the length of the run: its generations, or its calls if the method decides its breadth.
func (f file) goes() int {
	if f.Breadth != "" {
		return f.AnsweredBy(f.Generations())
	}
	return f.Generations()
}

// greedy reports whether the method is one greedy search, with any breadth: a search of T generations is then that of
// every smaller T, too.
func (s *study) greedy() bool { return strings.HasPrefix(s.Method, "greedy") }

// scores returns the best scores of the searches that have T generations of N.
func (s *study) scores(t, n int) []float64 {
	var scores []float64
	for _, f := range s.deepest[n] {
		if f.Generations() >= t {
			scores = append(scores, f.Best[t])
		}
	}
	return scores
}

// fit fits the surface, or records why it cannot.
func (s *study) fit(o options) {
	if !s.greedy() {
		return // T of a bandit is its rounds, and each of its searches is as deep as it was pulled
	}
	if len(s.Breadths) == 1 {
		s.Open = append(s.Open, fmt.Sprintf("how to split calls between depth and breadth: all runs have N = %d, and it "+
			"takes two breadths and two budgets at least", s.Breadths[0]))
		return
	}
	surface, err := s.grid.Surface()
	if err != nil {
		s.Open = append(s.Open, "how to split calls between depth and breadth: "+plain(err))
		return
	}
	s.Surface = &surface
	if s.Seeds < fewSeeds {
		s.Open = append(s.Open, fmt.Sprintf("whether depth and breadth complement each other, and which split is best: "+
			"some breadth has %s, and an interval takes %d at least, better ten", count(s.Seeds, "seed"), fewSeeds))
		return
	}
	intervals, err := s.grid.Intervals(o.bootstrap(), analysis.BySearch, s.splitBudgets()...)
	if err != nil {
		s.Open = append(s.Open, "how sure the surface is: "+plain(err))
		return
	}
	s.Intervals = &intervals
	if s.Rivals, err = s.grid.Rivals(); err != nil {
		s.Open = append(s.Open, "whether the product of depth and breadth is needed: "+plain(err))
	}
	if s.HeldOut, err = s.grid.HeldOut(); err != nil {
		s.Open = append(s.Open, "how well the surface predicts a budget that it has not seen: "+plain(err))
	}
	if s.Envelope, err = s.grid.Envelope(0, 0); err != nil {
		s.Open = append(s.Open, "what the best split of a budget scores: "+plain(err))
	}
}

// fewSplits is the least number of splits of a budget for which the best is reported. For other budgets the surface has
// a best split too, but only by extrapolation.
const fewSplits = 3

// splitBudgets returns the budgets with enough splits, or the largest if none has.
func (s *study) splitBudgets() []float64 {
	splits := map[int]int{}
	for _, c := range s.Cells {
		splits[c.Calls()]++
	}
	var budgets []float64
	for _, c := range s.grid.Budgets() {
		if splits[c] >= fewSplits {
			budgets = append(budgets, float64(c))
		}
	}
	if all := s.grid.Budgets(); len(budgets) == 0 {
		budgets = []float64{float64(all[len(all)-1])}
	}
	return budgets
}

// plain returns an error of the analysis without its package's name.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "analysis: ") }
