// Package layering plays a search in layers against flat searches, on rules for scheduling jobs in shops of four kinds.
package layering

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
)

// A row is one search's runs, by seed.
type row struct {
	name           string
	calls, cost    float64 // sums over runs
	train, heldOut []float64
}

// A flatSearch is what layers are compared with.
type flatSearch struct {
	name  string
	make  func(seed uint32) (evolve.Arm, error)
	flops bool // its budget is FLOPs, and not calls
}

func (b Bench) flats() []flatSearch {
	return []flatSearch{
		{"layers, one call routes", b.almostAllBases, false},
		{"flat: greedy", b.greedy, false},
		{"flat: fronts by case", b.Fronts, false},
		{"flat: told the kinds", b.branched, false},
		{"flat: greedy, more FLOPs", b.greedy, true},
		{"flat: told, more FLOPs", b.branched, true},
	}
}

// SeedsOfPair is the distance of the seeds of two runs of a study.
const SeedsOfPair = 100

// Study plays layers against flat searches on the same seeds, from one on, and prints what they score.
func Study(ctx context.Context, b Bench, from uint32, runs int, out io.Writer) error {
	all := make([][]*row, runs)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range all {
		group.Go(func() (err error) {
			all[i], err = b.pair(ctx, from+SeedsOfPair*uint32(i))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	rows := all[0]
	for _, more := range all[1:] {
		for i, r := range more {
			rows[i].join(r)
		}
	}
	return print(rows, runs, out)
}

// ample is how many times the FLOPs of the layers a budget of FLOPs is. A run ends when the most that a call may cost
// does not fit any more, and so with 15 % unspent: less would favour the layers.
const ample = 1.25

// pair makes one run of everything with one seed.
func (b Bench) pair(ctx context.Context, seed uint32) ([]*row, error) {
	rows := []*row{{name: "layers"}, {name: "best base alone"}, {name: "random router"}, {name: "best router there is"},
		{name: "first router"}}
	if err := b.layers(ctx, seed, rows); err != nil {
		return nil, err
	}
	for _, f := range b.flats() {
		budget := evolve.Budget{Calls: b.Calls}
		if f.flops {
			budget = evolve.Budget{Calls: 20 * b.Calls, FLOPs: ample * rows[0].cost, Models: []llm.Model{offline.Nominal()}}
		}
		arm, err := f.make(seed)
		if err != nil {
			return nil, err
		}
		r := &row{name: f.name}
		if err := b.play(ctx, arm, budget, r); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// play makes one run of a flat search.
func (b Bench) play(ctx context.Context, arm evolve.Arm, budget evolve.Budget, into *row) error {
	res, err := evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{arm}, Policy: bandit.Random{}, Budget: budget})
	if err != nil {
		return err
	}
	held, err := b.Rules.HeldOut(ctx, res.Best.Program)
	into.add(res.Calls, cost(res), res.Best.Result, held)
	return err
}

// layers makes one run of the layers and of what stands beside them.
func (b Bench) layers(ctx context.Context, seed uint32, rows []*row) error {
	l, err := b.Layered(seed, Half)
	if err != nil {
		return err
	}
	if err := b.play(ctx, l, evolve.Budget{Calls: b.Calls}, rows[0]); err != nil {
		return err
	}
	if err := b.alone(ctx, l.Result().Arms[0].Best.Program, rows[1]); err != nil {
		return err
	}
	var train, test []eval.Result
	for _, c := range l.Pool() {
		r, err := b.Rules.HeldOut(ctx, c.Program)
		if err != nil {
			return err
		}
		train, test = append(train, c.Result), append(test, r)
	}
	rows[2].add(0, 0, mean(train), mean(test))
	rows[3].add(0, 0, best(train), best(test))
	return b.first(ctx, l.Pool(), rows[4])
}

// first scores the router that stage two begins with.
func (b Bench) first(ctx context.Context, pool []eval.Candidate, into *row) error {
	if len(pool) == 0 {
		return errors.New("layers: no rule is valid: need more calls")
	}
	router, err := firstRouter(newShops(trainSeed, trained), pool)
	if err != nil {
		return err
	}
	return b.alone(ctx, Whole(pool, router), into)
}

// alone scores one program.
func (b Bench) alone(ctx context.Context, program string, into *row) error {
	train, err := b.Rules.Evaluate(ctx, program)
	if err != nil {
		return err
	}
	held, err := b.Rules.HeldOut(ctx, program)
	into.add(0, 0, train, held)
	return err
}

// mean is what a router comes to on average that draws a base for each shop.
func mean(of []eval.Result) (r eval.Result) {
	for _, x := range of {
		r.Score += x.Score / float64(len(of))
	}
	return r
}

// best is what a router comes to that knows the best base for each shop. A base that fails in a shop has no scores.
func best(of []eval.Result) eval.Result {
	var cases []float64
	for _, x := range of {
		if cases == nil {
			cases = slices.Clone(x.Cases)
		}
		for i, s := range x.Cases {
			cases[i] = max(cases[i], s)
		}
	}
	return result(cases)
}

func cost(res *evolve.Result) float64 {
	return flops.Sum(res.Attempts, offline.Nominal().ActiveParams, flops.WorstCase).TotalFLOPs
}

func (r *row) add(calls int, cost float64, train, held eval.Result) {
	r.calls, r.cost = r.calls+float64(calls), r.cost+cost
	r.train, r.heldOut = append(r.train, train.Score), append(r.heldOut, held.Score)
}

// join adds the runs of another row of the same search.
func (r *row) join(more *row) {
	r.calls, r.cost = r.calls+more.calls, r.cost+more.cost
	r.train, r.heldOut = append(r.train, more.train...), append(r.heldOut, more.heldOut...)
}

// print prints a table with the intervals of the paired differences of layers from the others.
func print(rows []*row, runs int, out io.Writer) error {
	fmt.Fprintf(out, "%d runs of each on paired seeds; held-out is the mean, and the last column what layers score "+
		"more, with a 95 %% interval\n\n", runs)
	fmt.Fprintf(out, "%-26s %6s %9s %6s %8s  %s\n", "search", "calls", "FLOPs", "train", "held-out", "layers more by")
	for _, r := range rows {
		train, err := analysis.Bootstrap{}.Estimate(analysis.Scores{r.train}, analysis.Mean)
		if err != nil {
			return err
		}
		c, err := analysis.Bootstrap{}.Paired(analysis.Scores{rows[0].heldOut}, analysis.Scores{r.heldOut})
		if err != nil {
			return err
		}
		held, err := analysis.Bootstrap{}.Estimate(analysis.Scores{r.heldOut}, analysis.Mean)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%-26s %6s %9s %6.3f %8.3f", r.name, "", "", train.Value, held.Value)
		if r.calls > 0 {
			line = fmt.Sprintf("%-26s %6.0f %9.2e %6.3f %8.3f", r.name, r.calls/float64(runs), r.cost/float64(runs), train.Value,
				held.Value)
		}
		if r != rows[0] {
			line += fmt.Sprintf("  %+.3f [%.3f, %.3f]", c.Difference.Value, c.Difference.Low, c.Difference.High)
		}
		fmt.Fprintln(out, line)
	}
	return nil
}
