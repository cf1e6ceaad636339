package analyze

import (
	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

// envelope returns the figure of the best split by budget, for a greedy study with several splits and enough seeds for
// intervals and halves.
func (s *study) envelope(p *problem, o options) (plot.Envelope, bool) {
	if len(s.Envelope) == 0 {
		return plot.Envelope{}, false
	}
	l := plot.EnvelopeLine{Name: s.Method, Runs: s.Seeds}
	for _, e := range s.Envelope {
		i, err := o.bootstrap().Estimate(analysis.Scores{s.scores(e.Cell.T, e.Cell.N)}, analysis.Mean)
		if err != nil {
			return plot.Envelope{}, false
		}
		l.Points = append(l.Points,
			plot.EnvelopePoint{Budget: e.Calls, N: e.Cell.N, Best: i.Value, Low: i.Low, High: i.High, Fair: e.Fair})
	}
	return plot.Envelope{Title: p.title() + "the best split by budget", Interval: "Bars: " + bootstrapped,
		Lines: []plot.EnvelopeLine{l}}, true
}
