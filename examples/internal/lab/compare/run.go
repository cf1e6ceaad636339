// Package compare is the command compare. It plays searches against each other on families of landscapes whose true
// scores are known, at equal calls or at equal FLOPs, on paired seeds and without a model. Without flags it plays a few
// searches on two families, in seconds. All searches on all families take hours.
//
//	evoalloc compare
//	evoalloc compare --families additive,few --searches baselines,power-law
//	evoalloc compare --seeds 40 --out runs.csv
//	evoalloc compare --flops --searches baselines,peers,portfolios --out flops.csv
//	evoalloc compare --calls 2048 --baseline softmax
//	evoalloc compare --ab softmax operators=rewrite+explore,weights=1:1 --calls 512 --runs 30
//	evoalloc compare --noise --seeds 100
//	evoalloc compare --noise --tails --seeds 100
//	evoalloc compare --prices --calls 4000 --seeds 20
//	evoalloc compare --noise --timing --calls 256 --seeds 24
//
// With --out, runs that are in the file are not made again: a study that was stopped goes on, and more seeds or
// searches can be added. Delete the file when a search or a family has changed.
package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/noisy"
)

// quickFlags are the flags where none is given, and wholeFlags those of all searches and families.
const (
	quickFlags = "--families additive,few --searches baselines,power-law --seeds 4"
	wholeFlags = "--families all --searches all --seeds 10"
)

func Run(ctx context.Context, args []string, stdout io.Writer) error {
	args = cli.Quick(stdout, "compare", args, quickFlags, wholeFlags)
	var o options
	var err error
	if o.pair, args, err = takePair(args); err != nil {
		return err
	}
	fs := cli.NewFlags("compare",
		"[flags]: play searches against each other on landscapes of known truth, without a model",
		"families", "searches", "calls", "flops", "seeds", "seed", "ab", "baseline", "noise", "prices", "out", "config")
	o.register(fs)
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	cfg, err := o.study()
	if err != nil {
		return err
	}
	if (o.timing || o.tails) && !o.noise {
		return cli.Usagef("--timing and --tails need --noise")
	}
	if err := o.idle(fs); err != nil {
		return err
	}
	if o.timing {
		return noisy.TimedStudy(ctx, o.calls, o.seeds, o.seed, stdout)
	}
	if o.noise {
		return studyNoise(ctx, o, stdout)
	}
	if o.prices {
		return studyPrices(ctx, o, cfg.Families, stdout)
	}
	file, err := openRuns(o.out, o.budget(), cfg)
	if err != nil {
		return err
	}
	defer file.close()
	cfg.Skip = file.has
	runs, stopped, err := play(ctx, cfg, file, stdout)
	if err != nil {
		return err
	}
	show := report
	if o.pair != nil {
		show = judge
	}
	if err := show(stdout, runs, o, cfg); err != nil {
		return err
	}
	if stopped {
		return cli.ErrCanceled
	}
	return file.close()
}

// play makes the runs that are not in the file, and returns those that are and those that were made.
func play(ctx context.Context, cfg compare.Config, file *runsFile,
	stdout io.Writer) (runs []compare.Run, stopped bool, err error) {
	begun := time.Now()
	runs = file.known
	p := cli.NewCounter(stdout, len(cfg.Families)*len(cfg.Searches)*cfg.Runs-len(runs), "runs")
	var writing error
	cfg.OnRun = func(r compare.Run) {
		writing = errors.Join(writing, file.write(r))
		p.Step()
	}
	made, err := compare.Study(ctx, cfg)
	read := len(runs)
	runs = append(runs, made...)
	p.Close()
	if stopped = errors.Is(err, context.Canceled); stopped {
		err = nil
		fmt.Fprintln(stdout, "stopped; the tables are incomplete, of the families and seeds that all searches have run on")
		runs = wholeFamilies(runs, len(cfg.Searches))
	}
	fmt.Fprintf(stdout, "%d runs made in %.0f s, %d read\n\n", len(made), time.Since(begun).Seconds(), read)
	return runs, stopped, errors.Join(err, writing)
}

// wholeFamilies returns the runs of the families in which n searches have run on a seed. Without one it returns all
// runs.
func wholeFamilies(runs []compare.Run, n int) []compare.Run {
	type key struct {
		family string
		seed   uint64
	}
	on, families := map[key]int{}, map[string]bool{}
	for _, r := range runs {
		k := key{r.Family, r.Seed}
		if on[k]++; on[k] == n {
			families[r.Family] = true
		}
	}
	if len(families) == 0 {
		return runs
	}
	return slices.DeleteFunc(slices.Clone(runs), func(r compare.Run) bool { return !families[r.Family] })
}
