package noisy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// A study plays ways to deal with noise against each other where the noise is a real machine's.
type study struct {
	watch *stopwatch
	task  task.Task
	model llm.LLM
	calls int
}

// timedSearches are those of [Searches] that take one sample for each program.
func timedSearches() []compare.Search { return Searches()[:2] }

// truths is how many samples the true score of a program is the median of.
const truths = 200

// TimedStudy prints what the ways to deal with noise gain on a program that is really timed, at so many evaluations, on
// seeds from one on.
func TimedStudy(ctx context.Context, calls, seeds int, from uint64, stdout io.Writer) error {
	s := study{watch: newStopwatch(), calls: calls}
	var err error
	if s.task, err = task.New(task.Spec{Name: "times", Initial: initialProgram(), Evaluator: s.watch}); err != nil {
		return err
	}
	if s.model, err = offline.New(offline.Config{}); err != nil {
		return err
	}
	stopped := false
	var typical, noise, ends []float64
	var runs []compare.Run
	p := cli.NewCounter(stdout, seeds, "seeds")
	defer p.Close()
	for i := range seeds {
		more, sds, err := s.seed(ctx, from+uint64(i))
		if stopped = errors.Is(err, context.Canceled) && i > 1; stopped {
			fmt.Fprintf(stdout, "stopped; the table is incomplete, of the first %d seeds\n", i)
			break
		}
		if err != nil {
			return err
		}
		runs, noise, ends = append(runs, more...), append(noise, sds[0]), append(ends, sds[1:]...)
		if i%8 == 1 { // it takes many times as long
			gain, err := s.typicalGain(ctx, uint32(from)+uint32(i))
			if err != nil {
				return err
			}
			typical = append(typical, gain)
		}
		p.Step()
	}
	p.Close()
	gain := stat.Mean(typical, nil)
	fmt.Fprintf(stdout, "Gain in log speed-up at %d evaluations, %d seeds. A typical gain is %.3f.\n",
		calls, len(noise), gain)
	fmt.Fprintf(stdout, "The noise of one score is %.2f typical gains for the initial program, and %.2f for those that "+
		"searches end with.\n\n",
		rootMeanSquare(noise)/gain, rootMeanSquare(ends)/gain)
	if err := s.write(stdout, runs); err != nil || !stopped {
		return err
	}
	return cli.ErrCanceled
}

func rootMeanSquare(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(x)))
}

func (s study) write(stdout io.Writer, runs []compare.Run) error {
	var all []Gain
	for _, truth := range []string{"median", "mean"} {
		for _, search := range timedSearches() {
			g, err := Gains(runs, Family{Family: compare.Family{Name: truth}}, search.Name, "once")
			if err != nil {
				return err
			}
			all = append(all, g)
		}
	}
	return WriteGains(stdout, all)
}

// seed makes a run of each search, and then times what they end with. Each run is there twice: its true score is the
// median of samples, and their mean. The standard deviations of samples are those of the initial program and of each
// end.
func (s study) seed(ctx context.Context, seed uint64) (runs []compare.Run, sds []float64, err error) {
	searches, programs := timedSearches(), []string{s.task.Initial()}
	for i := range searches {
		search := searches[(i+int(seed))%len(searches)] // no search is always the first
		r, best, err := s.run(ctx, search, seed)
		if err != nil {
			return nil, nil, err
		}
		runs, programs = append(runs, r), append(programs, best)
	}
	samples, err := s.watch.samples(ctx, truths, programs...)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range samples {
		sds = append(sds, stat.StdDev(x, nil))
	}
	for i := range searches {
		r := runs[i]
		runs[i].Family, r.Family = "median", "mean"
		runs[i].Points, r.Points = []compare.Point{{Score: median(samples[0])}},
			[]compare.Point{{Score: stat.Mean(samples[0], nil)}}
		runs[i].Score, r.Score = median(samples[i+1]), stat.Mean(samples[i+1], nil)
		runs = append(runs, r)
	}
	return runs, sds, nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

func (s study) run(ctx context.Context, search compare.Search, seed uint64) (r compare.Run, best string, err error) {
	cfg, err := search.Make(compare.Setting{Task: s.task, LLM: s.model, Noisy: true, Seed: uint32(seed), Calls: s.calls})
	if err != nil {
		return r, "", err
	}
	cfg.Seed, cfg.Budget = seed, evolve.Budget{Evaluations: s.calls, Stalls: -1}
	result, err := evolve.Run(ctx, cfg)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return r, "", err
	}
	r = compare.Run{Search: search.Name, Seed: seed, Calls: result.Calls, Evaluations: result.Evaluations,
		Claimed: result.Best.Result.Score}
	if f := result.Fresh; f != nil && f.Samples != nil {
		r.Fresh, r.FreshSD, r.FreshN = f.Score, f.Samples.SD, f.Samples.N
	}
	return r, result.Best.Program, nil
}

// typicalGain returns the mean gain of a child that is better than its parent, in greedy search on the least of 5
// times.
func (s study) typicalGain(ctx context.Context, seed uint32) (float64, error) {
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: task.WithEvaluator(s.task, s.watch.best(5)), LLM: s.model, N: 1,
		Seed: seed, Strict: true})
	if err != nil {
		return 0, err
	}
	var scores []float64
	_, err = evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Evaluations: s.calls, Stalls: -1},
		Observer: func(e evolve.Event) {
			if n := len(scores); e.Best.Program != "" && (n == 0 || e.Best.Result.Score > scores[n-1]) {
				scores = append(scores, e.Best.Result.Score)
			}
		}})
	if err = errors.Join(err, ctx.Err()); err != nil {
		return 0, err
	}
	if len(scores) < 2 {
		return 0, errors.New("no child was better than the initial program")
	}
	return (scores[len(scores)-1] - scores[0]) / float64(len(scores)-1), nil
}
