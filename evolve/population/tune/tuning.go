package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/internal/lex"
)

// A tuning is the tuning of one program. It is not safe for concurrent use.
type tuning struct {
	program string
	numbers []lex.Literal
	left    int // evaluations
	score   func(ctx context.Context, program string) (eval.Result, error)

	axes       []axis
	center, at []float64          // where the method begins, and where the best is
	costs      map[string]float64 // of programs that were tried, +Inf for invalid ones
	scored     int
	best       eval.Candidate

	stale         int   // batches in a row without a new program
	over, refused bool  // nothing more is to be scored, because the run has no room
	err           error // or because scoring failed
}

// run returns the best program if it scores more than the parent.
func (t *tuning) run(ctx context.Context, r *rand.Rand) (string, error) {
	t.costs = make(map[string]float64)
	t.begin(make([]float64, len(t.numbers)))
	if t.cost(ctx, [][]float64{t.center}); t.best.Result.Valid {
		t.fix(ctx)
	}
	for again := len(t.axes) > 0; again && !t.over; {
		before := t.best.Program
		t.stale = 0
		minimize(len(t.axes), r, func(points [][]float64) ([]float64, bool) { return t.cost(ctx, points) })
		t.center = t.at
		again = t.best.Program != before
	}
	switch {
	case t.err != nil:
		return "", t.err
	case ctx.Err() != nil:
		return "", fmt.Errorf("tune: %w", context.Cause(ctx))
	case t.best.Program == "" || t.best.Program == t.program:
		return "", fmt.Errorf("tune: of %d programs none scores more than the parent", t.scored)
	}
	return t.best.Program, nil
}

// begin puts the center at the program itself, and the best at a point.
func (t *tuning) begin(at []float64) {
	t.axes, t.center, t.at = axesOf(t.numbers), make([]float64, len(t.numbers)), at
}

// fix leaves integers as they are whose change makes the program invalid.
func (t *tuning) fix(ctx context.Context) {
	var points [][]float64
	var which []int
	for i, a := range t.axes {
		if a.Integer && len(points) < t.left/4 {
			p := make([]float64, len(t.axes)) // a quarter larger, or by one if that is more
			p[i] = math.Asinh(a.Value+max(1, math.Abs(a.Value)/4)) - math.Asinh(a.Value)
			points, which = append(points, p), append(which, i)
		}
	}
	costs, _ := t.cost(ctx, points)
	for i, c := range slices.Backward(costs) {
		if at := which[i]; math.IsInf(c, 1) {
			t.numbers, t.at = slices.Delete(t.numbers, at, at+1), slices.Delete(t.at, at, at+1)
		}
	}
	t.begin(t.at)
}

// cost returns the costs of points, which are steps from the center, and whether there may be more. A batch that does
// not fit into what is left is not begun. So how many are scored at once changes nothing.
func (t *tuning) cost(ctx context.Context, points [][]float64) (costs []float64, more bool) {
	texts := make([]string, len(points))
	var fresh []string
	var at [][]float64
	for i, p := range points {
		text, moved := t.write(p)
		texts[i] = text
		if _, known := t.costs[text]; !known {
			t.costs[text] = math.Inf(1)
			fresh, at = append(fresh, text), append(at, moved)
		}
	}
	if t.stale++; len(fresh) > 0 {
		t.stale = 0
	}
	t.over = t.over || len(fresh) > t.left || ctx.Err() != nil
	if t.over || t.stale > 10 { // where integers are rounded to the same ones
		return nil, false
	}
	t.left -= len(fresh)
	results, errs := make([]eval.Result, len(fresh)), make([]error, len(fresh))
	var wg errgroup.Group
	wg.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range fresh {
		wg.Go(func() error {
			bad := step.Guard("the tune evaluator's Evaluate", func() { results[i], errs[i] = t.score(ctx, p) })
			errs[i] = cmp.Or(bad, errs[i])
			return nil
		})
	}
	_ = wg.Wait()
	for i, p := range fresh { // in order, whichever ended first
		t.takeIn(at[i], p, results[i], errs[i])
	}
	for _, text := range texts {
		costs = append(costs, t.costs[text])
	}
	return costs, !t.over
}

// write returns the program at a step from the center, and where that is. A number whose value is the one that it has
// stays as it is written, to the byte.
func (t *tuning) write(step []float64) (program string, at []float64) {
	moved := slices.Clone(t.numbers)
	for i, a := range t.axes {
		at = append(at, t.center[i]+step[i])
		if v := a.at(at[i]); !math.IsNaN(v) {
			moved[i].Value = v
		}
	}
	return lex.Rewrite(t.program, t.numbers, moved), at
}

func (t *tuning) takeIn(at []float64, program string, r eval.Result, err error) {
	if err != nil {
		t.over = true
		if limit, _ := evolve.Refused(err); limit != "" {
			t.refused = true // the best so far will do
		} else {
			t.err = cmp.Or(t.err, err)
		}
		return
	}
	if t.scored++; r.Valid {
		t.costs[program] = -r.Score
	}
	if c := (eval.Candidate{Program: program, Result: r}); t.best.Program == "" || c.Better(t.best) {
		t.best, t.at = c, at
	}
}

// An axis says what a step does to one number. One of length 1 takes any number to about a third or three times its size.
type axis struct {
	lex.Literal
	scale float64 // below this size a real number is moved by adding, so that it can change its sign
}

func axesOf(list []lex.Literal) (axes []axis) {
	var sizes []float64
	for _, n := range list {
		if !n.Integer && n.Value != 0 {
			sizes = append(sizes, math.Abs(n.Value))
		}
	}
	typical := 1.0
	if slices.Sort(sizes); len(sizes) > 0 {
		typical = sizes[len(sizes)/2]
	}
	for _, n := range list {
		a := axis{n, typical / 10}
		if v := math.Abs(n.Value); n.Integer {
			a.scale = 1
		} else if v > 0 && v < typical/1e4 { // it is small for a reason, such as a tolerance
			a.scale = v / 10
		}
		axes = append(axes, a)
	}
	return axes
}

// at returns the value of the number a step u from where it is: S·sinh(asinh(v/S) + u) with the scale S, which is
// about v·eᵘ for a v larger than S, and v + S·u for a smaller one, within a million times its size or its scale. An
// integer keeps its sign, as those that count things do.
func (a axis) at(u float64) float64 {
	v := a.Value
	if u == 0 {
		return v
	}
	bound := 1e6 * max(math.Abs(v), a.scale)
	x := min(max(a.scale*math.Sinh(math.Asinh(v/a.scale)+u), -bound), bound)
	switch {
	case !a.Integer:
		return x
	case v > 0:
		x = max(x, 1)
	case v < 0:
		x = min(x, -1)
	}
	return math.Round(x)
}
