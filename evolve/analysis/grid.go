package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// A GridConfig selects the cells of a [Grid]. The zero value selects all, with a ceiling of 1.
type GridConfig struct {
	MinCalls, MaxCalls int // limits on the cells' budgets C = T·N; 0 means none
	// Depths are the T of cells; nil means the powers of two and the T of every run.
	Depths []int
	// Ceiling is an upper bound of scores; nil means 1. It is a pointer because 0 is a valid ceiling, of negative losses.
	Ceiling *float64
	Epsilon float64 // the least distinguishable gap to the ceiling; 0 means 1e-4
	// Early admits runs that stopped early, for the depths that they reached. A run that ended at a target is among the
	// best, so its absence makes the deeper cells look worse than they are.
	Early bool
}

// A Grid is the mean scores of searches over depth T and breadth N, for one task, model and method. A search of T
// generations contains that of every smaller T, so the cells of one breadth share searches.
type Grid struct {
	task, model, method string
	Ceiling, epsilon    float64
	Cells               []Cell // by N, then by T
	// Short are cells for which some searches of their breadth lack a score. They are not in Cells, since means over
	// different searches are not comparable.
	Short    []Cell
	breadths []breadth // by N
}

// A Cell is one split of a budget.
type Cell struct {
	T        int     `json:"T"`
	N        int     `json:"N"`
	Searches int     `json:"searches"`
	Answered float64 `json:"answered"` // answered calls of a search up to generation T, in the mean; T·N if none failed
	Mean     float64 `json:"mean"`     // V̄, the mean best score after T generations
	// Gap is ln(max(ceiling − V̄, ε)).
	Gap     float64 `json:"log_gap"`
	Floored bool    `json:"floored"` // V̄ is so near to the ceiling, or above it, that Gap is ln ε
	Above   int     `json:"above"`   // searches with a score above the ceiling: it is wrong, or the evaluator is
}

// Calls returns the cell's budget, T·N.
func (c Cell) Calls() int { return c.T * c.N }

// breadth returns the mean number of answered calls of a generation: N if none failed.
func (c Cell) breadth() float64 { return c.Answered / float64(c.T) }

// A breadth is the searches of one N: seeds[i] is that of search i, and scores[k][i] its score in cell k of the grid's
// cells from first on.
type breadth struct {
	n, first int
	seeds    []int64
	scores   [][]float64
}

// lnGap returns ln(max(ceiling − score, ε)), the logarithm of the gap to the ceiling.
func lnGap(score, ceiling, epsilon float64) float64 { return math.Log(max(ceiling-score, epsilon)) }

// NewGrid makes the grid of runs of one task, model and method. Runs of one breadth and seed are one search; a cell
// takes the shallowest of them that is deep enough. NewGrid returns an error if runs are of different tasks, models,
// methods or rules for ties, if they have a Breadth, whose generations are no depth, if one seed is there twice, if a
// run is wrong or stopped early, if the ceiling is not finite or epsilon below 0, or if no cell is left.
func NewGrid(runs []Curve, config GridConfig) (*Grid, error) {
	config.Epsilon = cmp.Or(config.Epsilon, 1e-4)
	if !(config.Epsilon > 0) || math.IsInf(config.Epsilon, 0) {
		return nil, fmt.Errorf("analysis: GridConfig.Epsilon is %v: need more than 0", config.Epsilon)
	}
	if err := validateRuns(runs, config.Early); err != nil {
		return nil, err
	}
	if runs[0].Breadth != "" {
		return nil, fmt.Errorf("analysis: %v: %s decides how many children a generation has, so T and N are no split of "+
			"the budget: compare the run with others by Curve.BestBy", runs[0], runs[0].Breadth)
	}
	g := &Grid{task: runs[0].Task, model: runs[0].Model, method: runs[0].Method, Ceiling: 1, epsilon: config.Epsilon}
	if config.Ceiling != nil {
		if g.Ceiling = *config.Ceiling; !finite(g.Ceiling) {
			return nil, fmt.Errorf("analysis: GridConfig.Ceiling is %v: need a finite number", g.Ceiling)
		}
	}
	byN := map[int]map[int64][]Curve{}
	for _, r := range runs {
		if byN[r.N] == nil {
			byN[r.N] = map[int64][]Curve{}
		}
		byN[r.N][r.Seed] = append(byN[r.N][r.Seed], r)
	}
	depths := config.depths(runs)
	for _, n := range slices.Sorted(maps.Keys(byN)) {
		g.addBreadth(n, byN[n], config.within(depths, n))
	}
	if len(g.Cells) == 0 {
		return nil, fmt.Errorf("analysis: no cell is left of %d runs: the limits on calls %d to %d, or the depths, leave "+
			"none that all seeds of a breadth have", len(runs), config.MinCalls, config.MaxCalls)
	}
	for _, c := range g.Cells {
		if c.Answered == 0 {
			return nil, fmt.Errorf("analysis: the cell T=%d N=%d has no answered call: leave its runs out", c.T, c.N)
		}
	}
	return g, nil
}

// depths returns the T that cells may have, ascending.
func (c GridConfig) depths(runs []Curve) []int {
	all := slices.Clone(c.Depths)
	if all == nil {
		most := 0
		for _, r := range runs {
			most = max(most, r.T)
			all = append(all, r.T)
		}
		for t := 1; t <= most; t *= 2 {
			all = append(all, t)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// within returns the depths that give a budget within the limits.
func (c GridConfig) within(depths []int, n int) []int {
	var in []int
	for _, t := range depths {
		if t >= 1 && t*n >= c.MinCalls && (c.MaxCalls == 0 || t*n <= c.MaxCalls) {
			in = append(in, t)
		}
	}
	return in
}

// addBreadth adds the cells of breadth n. runs are by seed.
func (g *Grid) addBreadth(n int, runs map[int64][]Curve, depths []int) {
	b := breadth{n: n, first: len(g.Cells), seeds: slices.Sorted(maps.Keys(runs))}
	for _, same := range runs {
		slices.SortFunc(same, func(a, b Curve) int { return cmp.Compare(a.T, b.T) })
	}
	for _, t := range depths {
		var scores []float64
		cell := Cell{T: t, N: n}
		for _, seed := range b.seeds {
			i := slices.IndexFunc(runs[seed], func(r Curve) bool { return r.T >= t && r.reached(t) })
			if i < 0 {
				continue
			}
			r := runs[seed][i]
			scores = append(scores, r.Best[t])
			cell.Answered += float64(r.AnsweredBy(t))
		}
		if cell.Searches = len(scores); cell.Searches == 0 {
			continue
		}
		cell.Answered /= float64(cell.Searches)
		g.score(&cell, scores)
		if cell.Searches < len(b.seeds) {
			g.Short = append(g.Short, cell)
			continue
		}
		g.Cells, b.scores = append(g.Cells, cell), append(b.scores, scores)
	}
	if len(b.scores) > 0 {
		g.breadths = append(g.breadths, b)
	}
}

// reached reports whether the run completed generation t.
func (r Curve) reached(t int) bool { return t < r.Generations() || t == r.Generations() && !r.Partial }

// score fills in the statistics of the cell's scores.
func (g *Grid) score(c *Cell, scores []float64) {
	c.Mean = mean(scores)
	c.Gap, c.Floored = lnGap(c.Mean, g.Ceiling, g.epsilon), g.Ceiling-c.Mean < g.epsilon
	for _, v := range scores {
		if v > g.Ceiling {
			c.Above++
		}
	}
}

// Budgets returns the budgets of the cells, ascending.
func (g *Grid) Budgets() []int {
	var all []int
	for _, c := range g.Cells {
		all = append(all, c.Calls())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// floored returns the number of floored cells, see [Cell].
func (g *Grid) floored() int {
	n := 0
	for _, c := range g.Cells {
		if c.Floored {
			n++
		}
	}
	return n
}

// gaps returns the cells' Gap.
func (g *Grid) gaps() []float64 {
	y := make([]float64, len(g.Cells))
	for i, c := range g.Cells {
		y[i] = c.Gap
	}
	return y
}
