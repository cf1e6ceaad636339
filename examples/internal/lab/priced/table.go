package priced

import (
	"context"
	"fmt"
	"io"

	"gonum.org/v1/gonum/stat"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/internal/bootstrap"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// Study plays the study and prints, for each condition, what each way gains as a share of what the better arm of each
// family gains with the whole budget. Which that is, is chosen on the other half of the runs.
func Study(ctx context.Context, cfg Config, out io.Writer) error {
	cells, err := study(ctx, cfg)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "True gain with the money of %d rewrites, as a share of that of the better arm in hindsight; %d "+
		"seeds from %d\n",
		cfg.Calls, cfg.Runs, cfg.Seed)
	for _, condition := range Conditions() {
		fmt.Fprintf(out, "\n%v\n%-10s %9s %9s", condition, "family", rewriter, agents)
		for _, way := range ways[2:] {
			fmt.Fprintf(out, "  %-20s", way)
		}
		fmt.Fprintln(out)
		var of []cell
		for _, c := range cells {
			if c.condition == condition {
				of = append(of, c)
			}
		}
		for _, c := range of {
			fmt.Fprintf(out, "%-10s %9.3f %9.3f", c.family, stat.Mean(c.gains[rewriter], nil), stat.Mean(c.gains[agents], nil))
			writeShares(out, []cell{c})
		}
		fmt.Fprintf(out, "%-10s %9s %9s", "mean", "", "")
		writeShares(out, of)
	}
	return nil
}

func writeShares(out io.Writer, cells []cell) {
	for _, way := range ways[2:] {
		i := share(cells, way)
		fmt.Fprintf(out, "  %-20s", fmt.Sprintf("%.3f [%.3f, %.3f]", i.Value, i.Low, i.High))
	}
	fmt.Fprintln(out)
}

// hindsight returns what the better arm gains: in the even runs the one that is better in the odd ones, and the other
// way round. Chosen on the same runs it would be the luckier one, too.
func (c cell) hindsight() []float64 {
	gains := make([]float64, len(c.gains[rewriter]))
	for half := range 2 {
		var lead float64 // of the agent, in the other half
		for run := 1 - half; run < len(gains); run += 2 {
			lead += c.gains[agents][run] - c.gains[rewriter][run]
		}
		better := rewriter
		if lead > 0 {
			better = agents
		}
		for run := half; run < len(gains); run += 2 {
			gains[run] = c.gains[better][run]
		}
	}
	return gains
}

// share returns the mean over cells of the ratio of mean gains to those of hindsight, with a percentile bootstrap of
// 2000 samples of the runs of each cell.
func share(cells []cell, way string) analysis.Interval {
	var i analysis.Interval
	plan := bootstrap.Plan{Samples: 2000, Rand: bootstrap.Same(stream.New(0, "priced share", 0))}
	samples := make([]float64, plan.Samples)
	for _, c := range cells {
		x, y := c.gains[way], c.hindsight()
		i.Value += stat.Mean(x, nil) / stat.Mean(y, nil) / float64(len(cells))
		plan.Each([]int{len(x)}, func(k int, draw [][]int) {
			var a, b float64
			for _, j := range draw[0] {
				a, b = a+x[j], b+y[j]
			}
			samples[k] += a / b / float64(len(cells))
		})
	}
	i.Low, i.High = bootstrap.Percentiles(samples, 0.95)
	return i
}
