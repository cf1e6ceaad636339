// Package bank is the command bank. It records searches for policies to be compared on: it makes many greedy searches
// of one task with the library itself, side by side, and keeps how the best score of each rose. With no flags it makes
// eight searches of a circle packing on a stand-in model that needs no network; with --model and an OpenAI-compatible
// endpoint in $LLM_API_BASE it records those of a real one.
//
//	evoalloc bank
//	evoalloc bank --task tsp --N 64 --T 64 --searches 30 --out tsp-N64.json
//	evoalloc policies --bank tsp-N64.json
//
// The file is written anew whenever a search ends. Stopped or killed, the same command makes the searches that are
// missing. It keeps no journal, so the calls of a search that was under way are made again: with a model that costs
// money, use --parallel 1 and short searches.
package bank

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

func Run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	if err := o.parse(args); err != nil {
		return err
	}
	t, standIn, end, err := o.newTask(ctx)
	if err != nil {
		return err
	}
	defer end()
	model, err := o.newModel(standIn)
	if err != nil {
		return err
	}
	f, err := openFile(&o)
	if err != nil {
		return err
	}
	r := recorder{options: &o, task: t, model: model, file: f, out: stdout, start: time.Now()}
	return r.record(ctx)
}

// A recorder makes searches and keeps them.
type recorder struct {
	*options
	task     task.Task
	model    llm.LLM
	start    time.Time
	children atomic.Int64 // made so far

	mu   sync.Mutex // searches end side by side
	file *file
	out  io.Writer
}

// record makes the searches that the file lacks, several side by side: each has one generation under way at a time, and
// waits for its slowest child while the others work.
func (r *recorder) record(ctx context.Context) error {
	missing := r.file.missing()
	if n := r.searches - len(missing); n > 0 {
		fmt.Fprintf(r.out, "%s has %d of the %d searches\n", r.path, n, r.searches)
	}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(r.parallel)
	for _, seed := range missing {
		group.Go(func() error {
			begin := time.Now()
			s, err := r.search(within, seed)
			if err != nil {
				return err
			}
			return r.keep(s, time.Since(begin))
		})
	}
	err := group.Wait()
	if ctx.Err() != nil && (err == nil || errors.Is(err, cli.ErrCanceled)) {
		fmt.Fprintf(r.out, "stopped: %s has %d of the %d searches, and the same command makes the others\n",
			r.path, r.searches-len(r.file.missing()), r.searches)
		return cli.ErrCanceled
	}
	return err
}

// search makes one search. It returns cli.ErrCanceled if ctx ends before the search has all its generations.
func (r *recorder) search(ctx context.Context, seed uint32) (sim.Recorded, error) {
	if ctx.Err() != nil {
		return sim.Recorded{}, cli.ErrCanceled
	}
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: r.task, LLM: r.model, N: r.n, Seed: seed, Strict: true})
	if err != nil {
		return sim.Recorded{}, err
	}
	var best []float64
	result, err := evolve.Run(ctx, evolve.Config{
		Arms:       []evolve.Arm{arm},
		Budget:     evolve.Budget{Rounds: r.rounds},
		ValidStart: true,
		Observer: func(e evolve.Event) {
			if e.Kind == evolve.EventGeneration {
				best = append(best, e.Generation.Best.Result.Score)
				r.children.Add(int64(len(e.Generation.Children)))
			}
		},
	})
	switch {
	case err != nil:
		return sim.Recorded{}, fmt.Errorf("bank: search of seed %d: %w", seed, err)
	case result.Stop == evolve.StopCanceled:
		return sim.Recorded{}, cli.ErrCanceled
	}
	return sim.Record(uint64(seed), append([]float64{result.Arms[0].Start.Result.Score}, best...)), nil
}

// keep puts a search that ended into the file, and says so.
func (r *recorder) keep(s sim.Recorded, took time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.file.add(s); err != nil {
		return err
	}
	kept := r.searches - len(r.file.missing())
	rate := float64(r.children.Load()) / time.Since(r.start).Seconds()
	fmt.Fprintf(r.out, "seed %d: %.6f to %.6f in %d rises, %.1f s; %d of %d searches, %.0f children a second\n",
		s.Seed, s.Rises[0].Score, s.Final(), len(s.Rises)-1, took.Seconds(), kept, r.searches, rate)
	return nil
}
