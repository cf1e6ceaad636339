package compare

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/noisy"
)

// levels are how noisy the families of the study of noise are, in typical gains.
var levels = []float64{0, 0.5, 1, 2}

// studyNoise plays ways to deal with noise against each other at equal evaluations, and prints what they gain.
func studyNoise(ctx context.Context, o options, stdout io.Writer) error {
	if o.seeds < 2 || o.pair != nil {
		return cli.Usagef("--noise: need --seeds of at least 2, and no --ab")
	}
	cfg := compare.Config{Searches: noisy.Searches(), Calls: o.calls, Evaluations: o.calls, Seed: o.seed, Runs: o.seeds,
		Parallel: o.parallel}
	for _, level := range levels {
		cfg.Families = append(cfg.Families, noisy.Families(level)...)
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
		if err := writeNoise(stdout, runs, o, cfg); err != nil {
			return err
		}
	}
	if stopped {
		return cli.ErrCanceled
	}
	return nil
}

// writeNoise prints what the searches gain in the runs.
func writeNoise(stdout io.Writer, runs []compare.Run, o options, cfg compare.Config) error {
	fmt.Fprintf(stdout, "True gain at %d evaluations, %d seeds; claimed less true, by the search's own score and by "+
		"fresh samples\n\n", o.calls, o.seeds)
	var all []noisy.Gain
	var without error // a ratio: what was made is shown nevertheless
	for _, f := range cfg.Families {
		for _, s := range cfg.Searches {
			g, err := noisy.Gains(runs, f.Name, s.Name, "once")
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
