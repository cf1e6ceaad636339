// Package tuning has the study of searches that tune the numbers of their programs without a model: after which share
// of the model calls they are where the same search ends that does not.
package tuning

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// A Study says what is compared.
type Study struct {
	Tasks       []string // of [Tasks]
	Runs        int      // of each search on each task, on paired seeds
	Calls       int      // model calls of a run
	Evaluations int      // tune evaluations of a run
	Seed        uint32   // of the first run
}

// Play makes the runs and prints a line for each task.
func (s Study) Play(ctx context.Context, stdout io.Writer) error {
	if s.Runs < least || s.Calls < children || s.Evaluations < 1 {
		return cli.Usagef("tuning: need --runs of at least %d, --calls of at least %d, --tune of at least 1", least, children)
	}
	var chosen []kind
	for _, name := range s.Tasks {
		k, err := named(name)
		if err != nil {
			return err
		}
		chosen = append(chosen, k)
	}
	p := cli.NewCounter(stdout, len(chosen)*s.Runs, "pairs of runs")
	defer p.Close()
	p.Print(fmt.Sprintf("%-12s  %-24s  %-10s  %-10s  %-10s  %-10s", "task", "share of calls", "without", "tuned", "random",
		"more calls"))
	for _, k := range chosen {
		if err := s.compare(ctx, k, p); err != nil {
			return fmt.Errorf("tuning: %s: %w", k.name, err)
		}
	}
	return nil
}

// least is the fewest runs that the median has a 95 % interval of.
const least = 6

// children is how many a step has.
const children = 4

// search makes one run. o is nil in a search that tunes nothing.
func search(ctx context.Context, k kind, seed uint32, tuner *tune.Tuner, b evolve.Budget) (*evolve.Result, error) {
	t, model, err := k.make()
	if err != nil {
		return nil, err
	}
	operators := []population.Operator{population.Rewrite{}}
	if tuner != nil {
		tuner.Find = k.find
		operators = append(operators, tuner)
	}
	arm, err := population.New(population.Config{Task: t, LLM: model, N: children, Seed: seed, Archive: population.Top(1),
		Operators: operators})
	if err != nil {
		return nil, err
	}
	return evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{arm}, Budget: b})
}

// A row is what came of the runs of a task: one value for each.
type row struct{ share, without, tuned, random, more []float64 }

// compare makes the runs of a task and prints a line. Stopped before the last, it prints the line of those that are
// complete, and says so.
func (s Study) compare(ctx context.Context, k kind, p *cli.Counter) error {
	var r row
	for i := range s.Runs {
		err := s.add(ctx, k, s.Seed+uint32(i), &r)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		p.Step()
	}
	if len(r.share) > 0 {
		p.Print(r.line(k.name))
	}
	if len(r.share) < s.Runs {
		p.Print(fmt.Sprintf("stopped; %s is incomplete, after %d of %d runs of each search", k.name, len(r.share), s.Runs))
		return cli.ErrCanceled
	}
	return nil
}

// add makes the runs of a seed.
func (s Study) add(ctx context.Context, k kind, seed uint32, r *row) error {
	plain, err := search(ctx, k, seed, nil, evolve.Budget{Calls: s.Calls})
	if err != nil {
		return err
	}
	with, err := search(ctx, k, seed, &tune.Tuner{}, evolve.Budget{Calls: s.Calls, TuneEvaluations: s.Evaluations})
	if err != nil {
		return err
	}
	placebo, err := search(ctx, k, seed, &tune.Tuner{Method: tune.Random{}},
		evolve.Budget{Calls: s.Calls, TuneEvaluations: s.Evaluations})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	longer, err := search(ctx, k, seed, nil, evolve.Budget{Calls: s.Calls + with.TuneEvaluations})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if plain.Calls > s.Calls || with.Calls > s.Calls || with.TuneEvaluations == 0 || plain.TuneEvaluations > 0 {
		return fmt.Errorf("calls %d and %d, tune evaluations %d and %d: the accounts are wrong",
			plain.Calls, with.Calls, plain.TuneEvaluations, with.TuneEvaluations)
	}
	r.share = append(r.share, float64(callsTo(with, plain.Best.Result.Score))/float64(s.Calls))
	r.without, r.tuned = append(r.without, plain.Best.Result.Score), append(r.tuned, with.Best.Result.Score)
	r.random, r.more = append(r.random, placebo.Best.Result.Score), append(r.more, longer.Best.Result.Score)
	return nil
}

// line returns the medians, with the interval of the share where there are runs enough for one.
func (r row) line(name string) string {
	share := text(median(r.share))
	if len(r.share) >= least {
		low, high := interval(r.share)
		share += fmt.Sprintf(" [%s, %s]", text(low), text(high))
	}
	return fmt.Sprintf("%-12s  %-24s  %-10s  %-10s  %-10s  %-10s", name, share, score(r.without), score(r.tuned),
		score(r.random), score(r.more))
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

// interval returns a 95 % interval of the median: the k-th value from below and from above, with the largest k for
// which fewer than k of n fair coins show heads with a chance of at most 0.025. It assumes nothing of the values.
func interval(values []float64) (low, high float64) {
	n := len(values)
	k, below := 0, 0.0
	for below += heads(n, k); below <= 0.025; below += heads(n, k) {
		k++
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(k-1, 0)], sorted[n-max(k, 1)]
}

// heads returns the chance that k of n fair coins show heads. It goes by logarithms: 0.5ⁿ is 0 for many coins.
func heads(n, k int) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	up, _ := math.Lgamma(float64(k + 1))
	down, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(all - up - down - float64(n)*math.Ln2)
}

func score(values []float64) string { return fmt.Sprintf("%.4f", median(values)) }

func text(share float64) string {
	if math.IsInf(share, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.3f", share)
}
