package duel

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// A Loss is by how much a search misses the best of others in hindsight, family by family:
//
//	loss = (best − search)/(best − worst)
//
// in mean true scores, so that 0 is as good as the best and 1 as bad as the worst.
type Loss struct {
	Search string
	Mean   analysis.Interval   // over families
	Worst  analysis.Interval   // the largest of all families
	Of     []analysis.Interval // by family, in the table's order
}

// Within returns in how many families the loss is at most so much.
func (l Loss) Within(most float64) int {
	n := 0
	for _, of := range l.Of {
		if of.Value <= most {
			n++
		}
	}
	return n
}

// Hindsight returns the loss of a search to the best of among, which are single searches: for each family another may
// be the best. The best of several noisy means looks better than it is. So the best and the worst are chosen on one
// half of a family's seeds, and all scores are those of the other half; the loss is the mean of both ways around. A
// search that is chosen itself has a loss of 0 there.
//
// Intervals are 95 % bootstrap intervals over seeds, in which the best and the worst are chosen anew in each sample.
// With few runs they are mostly too low for the worst family, as in a part of the samples another is chosen.
//
// It fails if the table has not all of the searches, if among has fewer than two, or with fewer than four seeds.
func (t *Table) Hindsight(search string, among []string) (Loss, error) {
	loss := Loss{Search: search}
	if len(among) < 2 {
		return loss, errors.New("duel: Hindsight among fewer than two searches: there is no range between best and worst")
	}
	if err := t.has(append([]string{search}, among...)...); err != nil {
		return loss, err
	}
	h := t.halves(search, among)
	for f, family := range t.Families {
		if len(h.seeds[2*f]) < 2 || len(h.seeds[2*f+1]) < 2 {
			return loss, fmt.Errorf("duel: Hindsight of family %s with %d seeds: need four, to choose on one half and to "+
				"score on the other", family, len(t.Runs(family, search)))
		}
	}
	var errs error
	of := func(stat analysis.Statistic) analysis.Interval {
		i, err := analysis.Bootstrap{}.Estimate(h.seeds, stat)
		errs = errors.Join(errs, err)
		return i
	}
	loss.Mean = of(func(s analysis.Scores) float64 { return average(h.losses(s)) })
	loss.Worst = of(func(s analysis.Scores) float64 { return slices.Max(h.losses(s)) })
	for f := range t.Families {
		loss.Of = append(loss.Of, of(func(s analysis.Scores) float64 { return h.family(f, s) }))
	}
	return loss, errs
}

func average(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// halves are the scores that losses are worked out of.
type halves struct {
	search int             // its place in scores
	among  []int           // theirs
	scores [][][]float64   // by family, search and seed's place
	seeds  analysis.Scores // two strata a family, each with the places of its half of the seeds
}

// halves returns the scores of search and among, with every second seed in one half.
func (t *Table) halves(search string, among []string) halves {
	h := halves{}
	for i := range among {
		h.among = append(h.among, i)
	}
	h.search = len(among)
	for i, s := range among {
		if s == search {
			h.search = i
		}
	}
	for _, family := range t.Families {
		var of [][]float64
		for _, s := range append(append([]string{}, among...), search) {
			var list []float64
			for _, r := range t.Runs(family, s) {
				list = append(list, r.Score)
			}
			of = append(of, list)
		}
		var half [2][]float64
		for i := range of[0] {
			half[i%2] = append(half[i%2], float64(i))
		}
		h.scores = append(h.scores, of)
		h.seeds = append(h.seeds, half[0], half[1])
	}
	return h
}

// losses returns the loss of each family, for a sample of the places of seeds.
func (h halves) losses(sample analysis.Scores) []float64 {
	all := make([]float64, len(h.scores))
	for f := range all {
		all[f] = h.family(f, sample)
	}
	return all
}

// family returns the loss of one family, both ways around.
func (h halves) family(f int, sample analysis.Scores) float64 {
	a, b := sample[2*f], sample[2*f+1]
	return (h.loss(h.scores[f], a, b) + h.loss(h.scores[f], b, a)) / 2
}

// loss chooses the best and the worst on some seeds, and works out the loss on others.
func (h halves) loss(scores [][]float64, choose, on []float64) float64 {
	best, worst := 0, 0
	high, low := math.Inf(-1), math.Inf(1)
	for _, s := range h.among {
		m := at(scores[s], choose)
		if m > high {
			best, high = s, m
		}
		if m < low {
			worst, low = s, m
		}
	}
	top, bottom := at(scores[best], on), at(scores[worst], on)
	if top <= bottom { // the choice was luck, and the range means nothing
		return 0
	}
	return (top - at(scores[h.search], on)) / (top - bottom)
}

// at returns the mean of the scores at some places.
func at(scores, places []float64) float64 {
	sum := 0.0
	for _, p := range places {
		sum += scores[int(p)]
	}
	return sum / float64(len(places))
}
