package analyze

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

// An axis is something that runs spend.
type axis struct {
	name, title, label string
	scale              plot.Scale
	by                 func(file) []float64 // by generation from 1 on; shorter if the file lacks it
}

func (o options) axes() []axis {
	all := []axis{
		{"calls", "calls", "model calls that were answered", plot.Log2, answered},
		{"flops", "FLOPs", "FLOPs, timeouts charged in full", plot.Log10, func(f file) []float64 { return f.flops }},
		{"time", "time", "seconds of all generations", plot.Log10, func(f file) []float64 { return f.seconds }},
	}
	if o.prompt > 0 || o.answer > 0 {
		all = append(all,
			axis{"money", "money", "US dollars", plot.Log10, func(f file) []float64 { return f.dollars(o.prompt, o.answer) }})
	}
	return all
}

// answered returns the answered calls of each generation. The first includes those before it.
func answered(f file) []float64 {
	calls := make([]float64, f.Generations())
	for i := range calls {
		calls[i] = float64(f.N)
		if f.Answered != nil {
			calls[i] = float64(f.Answered[i+1])
		}
	}
	if len(calls) > 0 {
		calls[0] += float64(f.AnsweredBy(0))
	}
	return calls
}

// curves returns a figure for each kind of spending that all runs of a method and breadth have, with a line for each
// method and breadth shown.
func (p *problem) curves(o options) (map[string]plot.Curves, error) {
	figures := map[string]plot.Curves{}
	for _, s := range p.Studies {
		for _, n := range s.shown() {
			for _, a := range o.axes() {
				line, err := rise(o, s.deepest[n], a.by)
				if err != nil {
					return nil, err
				}
				if len(line.X) == 0 {
					continue
				}
				if line.Name = s.Method; n > 0 {
					line.Name = fmt.Sprintf("%s N=%d", s.Method, n)
				}
				c, begun := figures["best_by_"+a.name]
				if !begun {
					c = plot.Curves{Title: p.title() + "best score by " + a.title, X: a.label, Scale: a.scale,
						Panels:   make([]plot.Panel, 1),
						Interval: "Mean; band: " + bootstrapped + fmt.Sprintf(", from %d of them on.", fewSeeds) + p.omitted()}
				}
				c.Panels[0].Lines = append(c.Panels[0].Lines, line)
				figures["best_by_"+a.name] = c
			}
		}
	}
	return figures, nil
}

// mostPoints is the approximate number of points of a line, each of which needs an interval.
const mostPoints = 48

// rise returns the mean best score of runs by spending, up to the shortest run. A run's score at a point is that of its
// last generation that ended by then. The line has no points if a run lacks the spending.
func rise(o options, files []file, by func(file) []float64) (plot.Line, error) {
	sums := make([][]float64, len(files))
	last := math.Inf(1)
	var ends []float64
	for i, f := range files {
		if sums[i] = summed(by(f), f.Generations()); len(sums[i]) == 0 {
			return plot.Line{}, nil
		}
		last = min(last, sums[i][len(sums[i])-1])
		ends = append(ends, sums[i]...)
	}
	xs := evenly(ends, last)
	points := make([][]float64, len(xs))
	for i, x := range xs {
		for k, f := range files {
			t := sort.Search(len(sums[k]), func(t int) bool { return sums[k][t] > x }) // generations that ended by then
			points[i] = append(points[i], f.Best[t])
		}
	}
	l, err := banded(o, points)
	l.X = xs
	return l, err
}

// summed returns the spending up to the end of each generation from 1 on, or nil if the list is incomplete or
// impossible: below 0, or more than a float64 holds.
func summed(spent []float64, generations int) []float64 {
	if len(spent) < generations {
		return nil
	}
	sums, sum := make([]float64, generations), 0.0
	for i := range sums {
		if sum += spent[i]; spent[i] < 0 || math.IsInf(sum, 0) {
			return nil
		}
		sums[i] = sum
	}
	return sums
}

// evenly returns about mostPoints of the values from above 0 to last, including both ends, evenly spaced on a
// logarithmic axis.
func evenly(values []float64, last float64) []float64 {
	slices.Sort(values)
	values = slices.Compact(slices.DeleteFunc(values, func(v float64) bool { return v <= 0 || v > last }))
	if len(values) <= mostPoints {
		return values
	}
	var some []float64
	first := values[0]
	for i := range mostPoints + 1 {
		at, _ := slices.BinarySearch(values, first*math.Pow(last/first, float64(i)/mostPoints))
		some = append(some, values[min(at, len(values)-1)])
	}
	some[mostPoints] = last
	return slices.Compact(some)
}

// banded returns a line through the means of the runs' values at each point, with a band if there are enough runs.
func banded(o options, points [][]float64) (plot.Line, error) {
	var l plot.Line
	for _, values := range points {
		l.Runs = len(values)
		if l.Runs < fewSeeds {
			l.Y = append(l.Y, mean(values))
			continue
		}
		i, err := o.band(l.Runs).Estimate(analysis.Scores{values}, analysis.Mean)
		if err != nil {
			return l, err
		}
		l.Y, l.Low, l.High = append(l.Y, i.Value), append(l.Low, i.Low), append(l.High, i.High)
	}
	return l, nil
}

// depths returns about mostPoints of the numbers from 1 to last, including both.
func depths(last int) []int {
	var all []int
	for i := range mostPoints + 1 {
		if t := int(math.Round(math.Pow(float64(last), float64(i)/mostPoints))); last > 0 && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}
