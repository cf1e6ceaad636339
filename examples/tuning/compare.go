package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// compare makes the runs of a task and prints a line.
func (o options) compare(ctx context.Context, k kind) error {
	var share, without, tuned, random, more []float64
	for i := range o.runs {
		seed := uint32(o.seed) + uint32(i)
		plain, err := search(ctx, k, seed, nil, evolve.Budget{Calls: o.calls})
		if err != nil {
			return err
		}
		with, err := search(ctx, k, seed, &tune.Tuner{}, evolve.Budget{Calls: o.calls, TuneEvaluations: o.evaluations})
		if err != nil {
			return err
		}
		placebo, err := search(ctx, k, seed, &tune.Tuner{Method: tune.Random{}}, evolve.Budget{Calls: o.calls, TuneEvaluations: o.evaluations})
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		longer, err := search(ctx, k, seed, nil, evolve.Budget{Calls: o.calls + with.TuneEvaluations})
		if err != nil {
			return err
		}
		if plain.Calls > o.calls || with.Calls > o.calls || with.TuneEvaluations == 0 || plain.TuneEvaluations > 0 {
			return fmt.Errorf("calls %d and %d, tune evaluations %d and %d: the accounts are wrong", plain.Calls, with.Calls, plain.TuneEvaluations, with.TuneEvaluations)
		}
		share = append(share, float64(callsTo(with, plain.Best.Result.Score))/float64(o.calls))
		without, tuned = append(without, plain.Best.Result.Score), append(tuned, with.Best.Result.Score)
		random, more = append(random, placebo.Best.Result.Score), append(more, longer.Best.Result.Score)
	}
	low, high := interval(share)
	cli.Printf("%-12s  %-24s  %-10s  %-10s  %-10s  %-10s\n", k.name, fmt.Sprintf("%s [%s, %s]", text(median(share)), text(low), text(high)),
		score(without), score(tuned), score(random), score(more))
	return nil
}

// callsTo returns after how many model calls a run had the score, or what amounts to infinity.
func callsTo(r *evolve.Result, score float64) float64 {
	calls := 0
	for _, g := range r.Arms[0].Generations {
		for _, c := range g.Children {
			if c.Answered() {
				calls++
			}
		}
		if g.Best.Result.Score >= score {
			return float64(calls)
		}
	}
	return math.Inf(1)
}

// median returns the median, of an even number the larger of the two in the middle, as one of them may be infinite.
func median(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }

// interval returns a 95 % interval of the median: the k-th value from below and from above, with the largest k for which fewer
// than k of n fair coins show heads with a chance of at most 0.025. It assumes nothing of the values.
func interval(values []float64) (low, high float64) {
	n := len(values)
	k, chance, below := 0, math.Pow(0.5, float64(n)), 0.0
	for below+chance <= 0.025 {
		below += chance
		chance *= float64(n-k) / float64(k+1)
		k++
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(k-1, 0)], sorted[n-max(k, 1)]
}

func score(values []float64) string { return fmt.Sprintf("%.4f", median(values)) }

func text(share float64) string {
	if math.IsInf(share, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.3f", share)
}
