package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/stat"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/noisy"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

// A stopwatch scores programs by how long they run: log(time of the initial program / time of the program), each run
// once, one after the other. Times are those of the processor, see threadTime. A program has a line with a number for
// each stage. It is safe for concurrent use, and runs one program at a time.
type stopwatch struct {
	mu      sync.Mutex
	work    *work
	initial []float64
	swap    bool // whether the program runs first
}

func newStopwatch() *stopwatch {
	s := &stopwatch{work: newWork()}
	for _, stage := range stages() {
		s.initial = append(s.initial, stage.initial)
	}
	return s
}

// Evaluate takes one sample.
func (s *stopwatch) Evaluate(_ context.Context, program string) (eval.Result, error) {
	numbers, err := readNumbers(program)
	if err != nil {
		return eval.Invalid("%v", err), nil
	}
	a, b := s.pair(numbers)
	return eval.Result{Score: math.Log(a / b), Valid: true}, nil
}

// pair returns the times of the initial program and of the other, in seconds. They take turns at running first.
func (s *stopwatch) pair(numbers []float64) (initial, other float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swap = !s.swap
	if s.swap {
		other = s.time(numbers)
		return s.time(s.initial), other
	}
	initial = s.time(s.initial)
	return initial, s.time(numbers)
}

func (s *stopwatch) time(numbers []float64) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := threadTime()
	for i, stage := range stages() {
		stage.run(s.work, numbers[i])
	}
	return (threadTime() - begun).Seconds()
}

// best returns an evaluator that takes the least of n times of each, which hardly has noise.
func (s *stopwatch) best(n int) eval.Evaluator {
	return eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		numbers, err := readNumbers(program)
		if err != nil {
			return eval.Invalid("%v", err), nil
		}
		initial, other := math.Inf(1), math.Inf(1)
		for range n {
			a, b := s.pair(numbers)
			initial, other = min(initial, a), min(other, b)
		}
		return eval.Result{Score: math.Log(initial / other), Valid: true}, nil
	})
}

// samples returns n samples of each program. They take turns, so that what the machine does meanwhile falls to all.
func (s *stopwatch) samples(ctx context.Context, n int, programs ...string) ([][]float64, error) {
	all := make([][]float64, len(programs))
	for range n {
		for i, program := range programs {
			r, err := s.Evaluate(ctx, program)
			if err = errors.Join(err, ctx.Err()); err != nil {
				return nil, err
			}
			all[i] = append(all[i], r.Score)
		}
	}
	return all, nil
}

func initialProgram() string {
	var b strings.Builder
	for _, s := range stages() {
		fmt.Fprintf(&b, "%s = %v\n", s.name, s.initial)
	}
	return b.String()
}

func readNumbers(program string) ([]float64, error) {
	lines, all := strings.Split(strings.TrimSpace(program), "\n"), stages()
	if len(lines) != len(all) {
		return nil, fmt.Errorf("%d lines: need %d", len(lines), len(all))
	}
	numbers := make([]float64, len(all))
	for i, s := range all {
		name, value, _ := strings.Cut(lines[i], "=")
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if strings.TrimSpace(name) != s.name || err != nil || !(s.low <= v && v <= s.up) {
			return nil, fmt.Errorf("line %d is %q: need %s = a number from %v to %v", i+1, lines[i], s.name, s.low, s.up)
		}
		numbers[i] = v
	}
	return numbers, nil
}

// A timedStudy plays ways to deal with noise against each other where the noise is a real machine's.
type timedStudy struct {
	watch *stopwatch
	task  task.Task
	model llm.LLM
	calls int
}

// timedSearches are those of [noisy.Searches] that take one sample for each program.
func timedSearches() []compare.Search { return noisy.Searches()[:2] }

// truths is how many samples the true score of a program is the median of.
const truths = 200

// studyTimes prints what the ways to deal with noise gain on a program that is really timed.
func studyTimes(ctx context.Context, o options, stdout io.Writer) error {
	s := timedStudy{watch: newStopwatch(), calls: o.calls}
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
	p := cli.NewCounter(stdout, o.seeds, "seeds")
	defer p.Close()
	for i := range o.seeds {
		more, sds, err := s.seed(ctx, o.seed+uint64(i))
		if stopped = errors.Is(err, context.Canceled) && i > 1; stopped {
			fmt.Fprintf(stdout, "stopped; the table is incomplete, of the first %d seeds\n", i)
			break
		}
		if err != nil {
			return err
		}
		runs, noise, ends = append(runs, more...), append(noise, sds[0]), append(ends, sds[1:]...)
		if i%8 == 1 { // it takes many times as long
			gain, err := s.typicalGain(ctx, uint32(o.seed)+uint32(i))
			if err != nil {
				return err
			}
			typical = append(typical, gain)
		}
		p.Step()
	}
	p.Close()
	gain := stat.Mean(typical, nil)
	fmt.Fprintf(stdout, "Gain in log speed-up at %d evaluations, %d seeds. A typical gain is %.3f.\n", o.calls, len(noise), gain)
	fmt.Fprintf(stdout, "The noise of one score is %.2f typical gains for the initial program, and %.2f for those that searches end with.\n\n",
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

func (s timedStudy) write(stdout io.Writer, runs []compare.Run) error {
	var all []noisy.Gain
	for _, truth := range []string{"median", "mean"} {
		for _, search := range timedSearches() {
			g, err := noisy.Gains(runs, truth, search.Name, "once")
			if err != nil {
				return err
			}
			all = append(all, g)
		}
	}
	return noisy.WriteGains(stdout, all)
}

// seed makes a run of each search, and then times what they end with. Each run is there twice: its true score is the
// median of samples, and their mean. The standard deviations of samples are those of the initial program and of each end.
func (s timedStudy) seed(ctx context.Context, seed uint64) (runs []compare.Run, sds []float64, err error) {
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
		runs[i].Points, r.Points = []compare.Point{{Score: median(samples[0])}}, []compare.Point{{Score: stat.Mean(samples[0], nil)}}
		runs[i].Score, r.Score = median(samples[i+1]), stat.Mean(samples[i+1], nil)
		runs = append(runs, r)
	}
	return runs, sds, nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

func (s timedStudy) run(ctx context.Context, search compare.Search, seed uint64) (r compare.Run, best string, err error) {
	cfg, err := search.Make(compare.Setting{Task: s.task, LLM: s.model, Noisy: true, Seed: uint32(seed), Calls: s.calls})
	if err != nil {
		return r, "", err
	}
	cfg.Seed, cfg.Budget = seed, evolve.Budget{Evaluations: s.calls, Stalls: -1}
	result, err := evolve.Run(ctx, cfg)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return r, "", err
	}
	r = compare.Run{Search: search.Name, Seed: seed, Calls: result.Calls, Evaluations: result.Evaluations, Claimed: result.Best.Result.Score}
	if f := result.Fresh; f != nil && f.Samples != nil {
		r.Fresh, r.FreshSD, r.FreshN = f.Score, f.Samples.SD, f.Samples.N
	}
	return r, result.Best.Program, nil
}

// typicalGain returns the mean gain of a child that is better than its parent, in greedy search on the least of 5 times.
func (s timedStudy) typicalGain(ctx context.Context, seed uint32) (float64, error) {
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: task.WithEvaluator(s.task, s.watch.best(5)), LLM: s.model, N: 1, Seed: seed})
	if err != nil {
		return 0, err
	}
	var scores []float64
	_, err = evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Evaluations: s.calls, Stalls: -1}, Observer: func(e evolve.Event) {
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
