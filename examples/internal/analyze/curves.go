package analyze

import (
	"fmt"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

// An axis is something that runs spend.
type axis struct {
	name, title, label string
	scale              plot.Scale
	by                 func(file) []float64 // by generation from 1 on; shorter if the file does not say
}

func (o options) axes() []axis {
	all := []axis{
		{"calls", "calls", "model calls that were answered", plot.Log2, answered},
		{"flops", "FLOPs", "FLOPs, timeouts charged in full", plot.Log10, func(f file) []float64 { return f.flops }},
		{"time", "time", "seconds of all generations", plot.Log10, func(f file) []float64 { return f.seconds }},
	}
	if o.prompt > 0 || o.answer > 0 {
		all = append(all, axis{"money", "money", "US dollars", plot.Log10, func(f file) []float64 { return f.dollars(o.prompt, o.answer) }})
	}
	return all
}

// answered returns the calls of each generation that brought an answer. Those before the first one count in it.
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

// curves returns a figure for each thing that all runs of a method and breadth say they spent, with a line for each of
// these that is shown.
func (p *problem) curves(o options) (map[string]plot.Curves, error) {
	figures := map[string]plot.Curves{}
	for _, s := range p.Studies {
		for _, n := range s.shown() {
			best, depths, err := rise(o, s.deepest[n])
			if err != nil {
				return nil, err
			}
			best.Name = fmt.Sprintf("%s N=%d", s.Method, n)
			for _, a := range o.axes() {
				line := over(best, spentBy(s.deepest[n], depths, a.by))
				if len(line.X) == 0 {
					continue
				}
				c, begun := figures["best_by_"+a.name]
				if !begun {
					c = plot.Curves{Title: p.title() + "best score by " + a.title, X: a.label, Scale: a.scale, Panels: make([]plot.Panel, 1),
						Interval: "Mean; band: " + bootstrapped + fmt.Sprintf(", from %d of them on.", fewSeeds) + p.omitted()}
				}
				c.Panels[0].Lines = append(c.Panels[0].Lines, line)
				figures["best_by_"+a.name] = c
			}
		}
	}
	return figures, nil
}

// mostPoints is how many points a line has, about: an interval is worked out for each.
const mostPoints = 48

// rise returns how the best score of runs rose, as far as all of them go, at generations that lie evenly on a
// logarithmic axis. The line has no X yet.
func rise(o options, files []file) (plot.Line, []int, error) {
	last := math.MaxInt
	for _, f := range files {
		last = min(last, f.Generations())
	}
	at := depths(last)
	points := make([][]float64, len(at))
	for i, t := range at {
		for _, f := range files {
			points[i] = append(points[i], f.Best[t])
		}
	}
	l, err := banded(o, points)
	return l, at, err
}

// banded returns a line through the means of the runs' values at each point, with a band if there are runs enough.
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

// spentBy returns what was spent up to each of some depths, in the mean over runs; nil if a run does not say, or says
// what cannot be: less than 0, or more than a float64 holds.
func spentBy(files []file, depths []int, by func(file) []float64) []float64 {
	sums := make([]float64, len(depths))
	for _, f := range files {
		spent, sum, at := by(f), 0.0, 0
		for i, t := range depths {
			if t > len(spent) {
				return nil
			}
			for ; at < t; at++ {
				if spent[at] < 0 {
					return nil
				}
				sum += spent[at]
			}
			if math.IsInf(sum, 0) {
				return nil
			}
			sums[i] += sum / float64(len(files))
		}
	}
	return sums
}

// over returns the line by what was spent. A logarithmic axis has no 0, so points before anything was spent are left out.
func over(l plot.Line, spent []float64) plot.Line {
	first := 0
	for first < len(spent) && spent[first] <= 0 {
		first++
	}
	if first == len(spent) {
		return plot.Line{}
	}
	l.X, l.Y = spent[first:], l.Y[first:]
	if l.Low != nil {
		l.Low, l.High = l.Low[first:], l.High[first:]
	}
	return l
}

// depths returns about mostPoints of the generations from 1 to last, both among them.
func depths(last int) []int {
	var all []int
	for i := range mostPoints + 1 {
		if t := int(math.Round(math.Pow(float64(last), float64(i)/mostPoints))); last > 0 && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}
