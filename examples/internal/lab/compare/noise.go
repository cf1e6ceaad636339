package compare

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/noisy"
	"github.com/evoalloc/evoalloc/internal/landscape"
)

// levels are how noisy the families of the study of noise are, in typical gains.
var levels = []float64{0, 0.5, 1, 2}

// studyNoise plays ways to deal with noise against each other at equal evaluations, and prints what they gain.
func studyNoise(ctx context.Context, o options, stdout io.Writer) error {
	if o.seeds < 2 {
		return cli.Usagef("--noise: need --seeds of at least 2")
	}
	searches, families := noisy.Searches(), ofLevels()
	if o.tails {
		searches, families = noisy.OfTails(), ofLaws()
	}
	cfg := compare.Config{Searches: searches, Calls: o.calls, Evaluations: o.calls, Seed: o.seed, Runs: o.seeds,
		Parallel: o.parallel}
	for _, f := range families {
		cfg.Families = append(cfg.Families, f.Family)
	}
	p := cli.NewCounter(stdout, len(cfg.Families)*len(cfg.Searches)*cfg.Runs, "runs")
	cfg.OnRun = func(compare.Run) { p.Step() }
	runs, err := compare.Study(ctx, cfg)
	p.Close()
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return err
	}
	if stopped {
		fmt.Fprintf(stdout, "stopped; the table is incomplete, of %d of %d runs\n",
			len(runs), len(cfg.Families)*len(cfg.Searches)*cfg.Runs)
	}
	if len(runs) > 0 {
		if err := writeNoise(stdout, runs, o, families, searches); err != nil {
			return err
		}
	}
	if stopped {
		return cli.ErrCanceled
	}
	return nil
}

// ofLevels are families with normal noise.
func ofLevels() (all []noisy.Family) {
	for _, level := range levels {
		all = append(all, noisy.Families(landscape.Normal, level)...)
	}
	return all
}

// ofLaws are families with noise of each law, of one typical gain.
func ofLaws() (all []noisy.Family) {
	for _, law := range landscape.Laws() {
		all = append(all, noisy.Families(law, 1)...)
	}
	return all
}

// writeNoise prints what the searches gain in the runs.
func writeNoise(stdout io.Writer, runs []compare.Run, o options, families []noisy.Family,
	searches []compare.Search) error {
	fmt.Fprintf(stdout, "True gain at %d evaluations, %d seeds; claimed less true, by the search's own score and by "+
		"fresh samples\n\n", o.calls, o.seeds)
	var all []noisy.Gain
	var without error // why some ratios are missing; all others are shown
	for _, f := range families {
		for _, s := range searches {
			g, err := noisy.Gains(runs, f, s.Name, "once")
			if err != nil {
				without = errors.Join(without, err)
				continue
			}
			all = append(all, g)
		}
	}
	if err := noisy.WriteGains(stdout, all); err != nil || without == nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "\nWithout a ratio:\n%v\n", without)
	return err
}
