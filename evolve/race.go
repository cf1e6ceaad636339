package evolve

import (
	"context"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/noise"
)

// Race scores two programs again, the child that looks better and the incumbent, one sample of each at a time, until the
// child is better or not with this confidence, or both have most samples. It returns both results with the new samples.
//
// The test is on new samples alone, since the child's first is the one it was chosen for. Its chance to be wrong is at most
// 1 − confidence although it is looked at after each pair; package evolve/internal/noise has the formula, and what it assumes.
// A child that is better has to have the better mean of all samples too, by which programs are compared from then on. A
// program that is invalid once has lost. If the budget has no room, the race is not decided.
func (b *Breeder) Race(ctx context.Context, turn *Turn, child, incumbent eval.Candidate, confidence float64, most int) (c, in eval.Result, better bool, err error) {
	c, in = child.Result, incumbent.Result
	test := noise.Race{Alpha: 1 - confidence}
	for range most {
		results, err := b.Resample(ctx, turn, []string{child.Program, incumbent.Program})
		if err != nil || results[0] == nil || results[1] == nil {
			return c, in, false, err
		}
		c, in = eval.Pool(c, *results[0]), eval.Pool(in, *results[1])
		if !c.Valid || !in.Valid {
			return c, in, c.Valid, nil
		}
		test.Add(results[0].Score - results[1].Score)
		switch test.Decided() {
		case -1:
			return c, in, false, nil
		case 1:
			if c.Score > in.Score {
				return c, in, true, nil
			}
		}
	}
	return c, in, false, nil
}

// race takes a child of a noisy task in, for a greedy search that races: it replaces the incumbent if it wins.
func (g *Greedy) race(ctx context.Context, turn *Turn, c Child) {
	if g.incumbent == nil {
		first := g.Initial()
		g.incumbent = &first
	}
	in := g.incumbent
	switch {
	case !c.Scored() || !c.Better(in.Candidate):
	case !in.Result.Valid:
		*in = c
	default:
		won, kept, better, err := g.Race(ctx, turn, c.Candidate, in.Candidate, g.cfg.Race, g.cfg.RaceSamples)
		if err != nil {
			g.Fail(err)
			return
		}
		in.Result = kept
		if better {
			*in = c
			in.Result = won
		}
		g.of = -1 // the prompt shows the score
	}
	g.Lead(*in)
}
