package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/analysis/plot"
)

// A split is one method's scores at one split of a budget.
type split struct {
	name   string
	of     budget
	scores []float64
}

// Bounds of a profile's figure.
const (
	mostLines  = 5
	thresholds = 60
)

// profiles returns the profiles of the largest budget with at least two splits, or of the largest if there is none, at
// equal answered calls.
func (p *problem) profiles(o options) (profiles plot.Profiles, ok bool, err error) {
	byCalls := map[int][]split{}
	for _, s := range p.Studies {
		for _, b := range s.budgets() {
			byCalls[b.calls] = append(byCalls[b.calls], split{name: b.of(s.Method), of: b})
		}
	}
	if len(byCalls) == 0 {
		return plot.Profiles{}, false, nil
	}
	budgets := slices.Sorted(maps.Keys(byCalls))
	calls := budgets[len(budgets)-1]
	for _, c := range budgets {
		if len(byCalls[c]) > 1 && (len(byCalls[calls]) < 2 || c > calls) {
			calls = c
		}
	}
	splits := byCalls[calls]
	for _, s := range splits {
		calls = min(calls, s.of.answered())
	}
	for i, s := range splits {
		splits[i].scores = s.of.scores(calls)
	}
	d := plot.Profiles{Title: fmt.Sprintf("%sruns that pass a score with %d answered calls", p.title(), calls),
		Score: "best score", Interval: profiled(len(splits))}
	slices.SortStableFunc(splits, func(a, b split) int { return cmp.Compare(mean(b.scores), mean(a.scores)) })
	splits = splits[:min(len(splits), mostLines)]
	at := thresholdsOf(splits)
	d.Panels = make([]plot.Panel, 1)
	for _, s := range splits {
		l, err := s.profile(o, at)
		if err != nil {
			return d, false, err
		}
		d.Panels[0].Lines = append(d.Panels[0].Lines, l)
	}
	return d, true, nil
}

// profiled returns the caption's words on bands and on omitted lines.
func profiled(splits int) string {
	text := fmt.Sprintf("Band: pointwise %s, from %d of them on.", bootstrapped, fewSeeds)
	if splits > mostLines {
		text += fmt.Sprintf(" The %d of %d splits with the best means.", mostLines, splits)
	}
	return text
}

func mean(scores []float64) float64 { return analysis.Mean(analysis.Scores{scores}) }

// thresholdsOf returns the scores of a profile's points, evenly from the least score to the largest.
func thresholdsOf(splits []split) []float64 {
	low, high := splits[0].scores[0], splits[0].scores[0]
	for _, s := range splits {
		low, high = min(low, slices.Min(s.scores)), max(high, slices.Max(s.scores))
	}
	step := (high - low) / (thresholds - 4)
	if step == 0 {
		step = 1e-3
	}
	at := make([]float64, thresholds)
	for i := range at {
		at[i] = low + float64(i-2)*step // a little more on both sides
	}
	return at
}

func (s split) profile(o options, at []float64) (plot.Line, error) {
	l := plot.Line{Name: s.name, Runs: len(s.scores), X: at}
	if len(s.scores) < fewSeeds {
		l.Y = analysis.Profile(analysis.Scores{s.scores}, at)
		return l, nil
	}
	shares, err := o.band(len(s.scores)).Profile(analysis.Scores{s.scores}, at)
	for _, i := range shares {
		l.Y, l.Low, l.High = append(l.Y, i.Value), append(l.Low, i.Low), append(l.High, i.High)
	}
	return l, err
}
