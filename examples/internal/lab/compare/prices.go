package compare

import (
	"context"
	"fmt"
	"io"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/priced"
)

// studyPrices plays policies over arms that cost unlike.
func studyPrices(ctx context.Context, o options, families []compare.Family, stdout io.Writer) error {
	if o.seeds < 2 {
		return cli.Usagef("--prices: need --seeds of at least 2")
	}
	p := cli.NewCounter(stdout, len(families)*priced.Plays()*o.seeds, "runs")
	err := priced.Study(ctx, priced.Config{Families: families, Calls: o.calls, Seed: o.seed, Runs: o.seeds,
		OnRun: p.Step}, stdout)
	p.Close()
	if ctx.Err() != nil {
		fmt.Fprintln(stdout, "stopped; there is no table of a part of the study")
		return cli.ErrCanceled
	}
	return err
}
