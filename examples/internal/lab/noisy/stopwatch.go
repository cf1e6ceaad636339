package noisy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/evoalloc/evoalloc/eval"
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
