package tune

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	fault "github.com/evoalloc/evoalloc/evolve/internal/step"
)

// A tuning is the tuning of one program. One goroutine owns it.
type tuning struct {
	program string
	numbers []number
	left    int // evaluations
	score   func(ctx context.Context, program string) (eval.Result, error)

	axes   []axis
	free   []int              // those that are moved
	center []float64          // where the method begins
	costs  map[string]float64 // of programs that were scored
	parent eval.Result
	best   eval.Candidate
	at     []float64 // where the best is

	stale   int   // batches in a row without a new program
	over    bool  // nothing more is to be scored
	refused bool  // because the run has no room
	err     error // or because scoring failed
}

// run returns the best program if its score exceeds the parent's by more than margin.
func (t *tuning) run(ctx context.Context, r *rand.Rand, margin float64) (string, error) {
	t.axes, t.costs = axesOf(t.numbers), make(map[string]float64)
	t.center = make([]float64, len(t.axes))
	t.at = t.center
	t.begin(ctx)
	for i, a := range t.axes {
		if !a.fixed {
			t.free = append(t.free, i)
		}
	}
	cost := func(points [][]float64) ([]float64, bool) { return t.cost(ctx, t.whole(points)) }
	for again := len(t.free) > 0; again && !t.over; {
		before := t.best.Program
		t.stale = 0
		minimize(len(t.free), r, cost)
		t.center = t.at
		again = t.best.Program != before
	}
	switch {
	case t.err != nil:
		return "", t.err
	case ctx.Err() != nil:
		return "", fmt.Errorf("tune: %w", context.Cause(ctx))
	case t.best.Program == "" || t.best.Program == t.program:
		return "", fmt.Errorf("tune: of %d programs none scores more than the parent", len(t.costs))
	case t.parent.Valid && t.best.Result.Score <= t.parent.Score+margin:
		return "", fmt.Errorf("tune: the best of %d programs scores %v, and the parent %v: it is not better by more than "+
			"the margin of %v",
			len(t.costs), t.best.Result.Score, t.parent.Score, margin)
	}
	return t.best.Program, nil
}

// whole returns points in all dimensions, from points in those that are moved.
func (t *tuning) whole(points [][]float64) [][]float64 {
	all := make([][]float64, len(points))
	for i, p := range points {
		all[i] = make([]float64, len(t.axes))
		for k, at := range t.free {
			all[i][at] = p[k]
		}
	}
	return all
}

// begin scores the parent, and looks for integers whose change makes the program invalid.
func (t *tuning) begin(ctx context.Context) {
	t.try(ctx, [][]float64{t.center}, []string{t.program})
	if !t.parent.Valid {
		return
	}
	var points [][]float64
	var which []int
	for i, a := range t.axes {
		if a.n.Integer && a.n.Lo == a.n.Hi && len(points) < t.left/4 {
			points = append(points, t.nudged(i))
			which = append(which, i)
		}
	}
	costs, _ := t.cost(ctx, points)
	for i, c := range costs {
		t.axes[which[i]].fixed = math.IsInf(c, 1)
	}
}

// nudged returns the point where the integer i is a quarter larger, or one if that is more.
func (t *tuning) nudged(i int) []float64 {
	p := make([]float64, len(t.axes))
	v := t.axes[i].n.Value
	p[i] = math.Asinh(v+max(1, math.Abs(v)/4)) - math.Asinh(v)
	return p
}

// staleMost is how many batches in a row may bring no new program, where integers are rounded to the same ones.
const staleMost = 10

// cost returns the costs of points, which are steps from the center, and whether there may be more. A batch that does
// not fit into what is left is not begun. So how many are scored at once changes nothing.
func (t *tuning) cost(ctx context.Context, points [][]float64) (costs []float64, more bool) {
	texts, moved := make([]string, len(points)), make([][]float64, len(points))
	var fresh []string
	var at [][]float64
	for i, p := range points {
		texts[i], moved[i] = t.write(p)
		if _, known := t.costs[texts[i]]; !known && !slices.Contains(fresh, texts[i]) {
			fresh, at = append(fresh, texts[i]), append(at, moved[i])
		}
	}
	if t.stale++; len(fresh) > 0 {
		t.stale = 0
	}
	if len(fresh) > t.left || ctx.Err() != nil {
		t.over = true
	}
	if t.over || t.stale > staleMost {
		return nil, false
	}
	t.try(ctx, at, fresh)
	costs = make([]float64, len(points))
	for i, text := range texts {
		c, known := t.costs[text]
		if costs[i] = c; !known {
			costs[i] = math.Inf(1)
		}
	}
	return costs, !t.over
}

// write returns the program at a step from the center, and where that is.
func (t *tuning) write(step []float64) (program string, at []float64) {
	values := make([]float64, len(t.axes))
	at = make([]float64, len(t.axes))
	for i, a := range t.axes {
		at[i] = t.center[i] + step[i]
		if values[i] = a.at(at[i]); math.IsNaN(values[i]) {
			values[i] = a.n.Value
		}
	}
	return rewrite(t.program, t.numbers, values), at
}

// try scores new programs at once and takes the results in, in order.
func (t *tuning) try(ctx context.Context, at [][]float64, programs []string) {
	t.left -= len(programs)
	results, errs := make([]eval.Result, len(programs)), make([]error, len(programs))
	var wg sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, p := range programs {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			results[i], errs[i] = t.scored(ctx, p)
		})
	}
	wg.Wait()
	for i, p := range programs {
		t.takeIn(at[i], p, results[i], errs[i])
	}
}

// scored scores a program, and returns what the evaluator panics with as an error. Without a run around it nobody else
// would: it is called on a goroutine of its own.
func (t *tuning) scored(ctx context.Context, program string) (r eval.Result, err error) {
	if bad := fault.Guard("the tune evaluator's Evaluate", func() { r, err = t.score(ctx, program) }); bad != nil {
		err = bad
	}
	return r, err
}

// takeIn takes one result in.
func (t *tuning) takeIn(at []float64, program string, r eval.Result, err error) {
	if err != nil {
		t.over = true
		if limit, _ := evolve.Refused(err); limit != "" {
			t.refused = true // the best so far will do
		} else if t.err == nil {
			t.err = err
		}
		return
	}
	t.costs[program] = math.Inf(1)
	if r.Valid {
		t.costs[program] = -r.Score
	}
	if program == t.program {
		t.parent = r
	}
	c := eval.Candidate{Program: program, Result: r}
	if t.best.Program == "" || c.Better(t.best) {
		t.best, t.at = c, at
	}
}
