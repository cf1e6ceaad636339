// Package tune makes children without a model, by choosing better values for the numbers of a program.
//
// A [Tuner] is an operator of package population. The numbers of a program are parameters, CMA-ES tries values for them
// on an evaluator that may be cheaper than the task's, and the best ones become a child, which is evaluated like any
// other. What the tuner tries counts in Budget.TuneEvaluations and nowhere else.
//
// All decimal numbers are parameters but for the integers 0 and 1, and the ones in subscripts, strings and comments.
package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/task"
)

// A Tuner is an operator that makes a child of its parent by tuning its numbers. The zero value is ready to use, with a
// Budget.TuneEvaluations that is not 0.
//
// One tuning scores the parent, then each integer a little changed, and then what CMA-ES asks for, each distinct program
// once. An integer whose change makes the program invalid, such as the number of things to place, is left as it is. A
// best that scores no more than the parent is discarded. A program is tuned once.
//
// With ByIndex the result depends on no scheduling as long as one arm is in flight: what a tuning may use is set aside
// for it when it is briefed. Give each Population a Tuner of its own.
type Tuner struct {
	// On is the evaluator that is tuned on, such as a part of the task's cases, on any scale; nil means the task's own. It
	// should be one that prints itself and can be compared. It must not ask a model.
	On eval.Evaluator
	// Evaluations is how many programs one tuning may score, the parent among them; 0 means 100 and 50 for each parameter.
	Evaluations int

	tried   map[string]bool // programs that were tuned
	granted int             // evaluations that tunings under way may use, and that ended ones have used
	mu      sync.Mutex
	unused  map[int]int // evaluations left by a tuning, by child until it is taken in; −1 if the run has no more
}

var (
	_ population.Abler    = (*Tuner)(nil)
	_ population.Hinter   = (*Tuner)(nil)
	_ population.Follower = (*Tuner)(nil)
)

// hintText is what a model is told while a Tuner is among the operators.
const hintText = "Change the structure of the program. Its numeric constants are tuned automatically afterwards, so " +
	"do not spend the answer on their exact values: write each that matters as a literal, with a plausible value."

func (o *Tuner) Name() string { return "tune" }

// String names the operator and the limits, as a journal recognizes a run by it.
func (o *Tuner) String() string {
	on := "the task"
	if o.On != nil {
		on = fmt.Sprint(o.On)
	}
	return fmt.Sprintf("tune(CMAES(population=0, step=0) on %s, evaluations=%d, most=%d, margin=0)", on, o.Evaluations,
		maxTuned) // as journals of earlier versions have it
}

const (
	maxTuned   = 64 // parameters that are tuned at once; of a program with more, these many are drawn
	leastGrant = 8  // evaluations that a tuning is begun with at least
)

// Hint returns hintText while there is something to tune with.
func (o *Tuner) Hint(v *population.View) (text string) {
	if o.left(v) {
		text = hintText
	}
	return text
}

// left reports whether the budget has tune evaluations that are not granted.
func (o *Tuner) left(v *population.View) bool { return v.TuneBudget()-o.granted >= leastGrant }

// Able reports whether the parent has parameters and was not tuned before, and the budget has tune evaluations left.
func (o *Tuner) Able(v *population.View) bool {
	return o.left(v) && !o.tried[v.Parent.Program] && len(o.find(v)) > 0
}

// find returns the numbers of the parent that may be tuned, in their order.
func (o *Tuner) find(v *population.View) []lex.Literal {
	return parameters(v.Parent.Program, task.LanguageOf(task.Ext(v.Task)))
}

func parameters(program, language string) []lex.Literal {
	return slices.DeleteFunc(lex.Likely(language, program).Literals(program), func(l lex.Literal) bool {
		return l.Role == lex.Index || l.Integer && math.Abs(l.Value) <= 1
	})
}

// draw returns at most maxTuned of the numbers, in their order.
func draw(list []lex.Literal, r *rand.Rand) []lex.Literal {
	if len(list) <= maxTuned {
		return list
	}
	chosen := r.Perm(len(list))[:maxTuned]
	slices.Sort(chosen)
	for i, at := range chosen {
		list[i] = list[at]
	}
	return list[:maxTuned]
}

// Brief makes the child by a tuning.
func (o *Tuner) Brief(v *population.View) evolve.Brief {
	if o.tried == nil {
		o.tried, o.unused = make(map[string]bool), make(map[int]int)
	}
	o.tried[v.Parent.Program] = true
	numbers := draw(o.find(v), v.Rand)
	grant := min(cmp.Or(o.Evaluations, 100+50*len(numbers)), v.TuneBudget()-o.granted)
	o.granted += grant
	on := eval.Evaluator(v.Task)
	if o.On != nil {
		on = o.On
	}
	t := &tuning{program: v.Parent.Program, numbers: numbers, left: grant,
		score: func(ctx context.Context, program string) (eval.Result, error) { return v.Tune(ctx, on, program) }}
	random := rand.New(rand.NewPCG(v.Rand.Uint64(), v.Rand.Uint64()))
	b := v.Brief()
	b.Make = func(ctx context.Context, _ *evolve.Work) (string, error) {
		best, err := t.run(ctx, random)
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.unused[v.Birth] = t.left; t.refused {
			o.unused[v.Birth] = -1
		}
		return best, err
	}
	return b
}

// Follow gives back what the tuning did not use.
func (o *Tuner) Follow(b population.Birth) {
	o.mu.Lock()
	defer o.mu.Unlock()
	left, ok := o.unused[b.ID]
	delete(o.unused, b.ID)
	if ok && left < 0 { // others have used up the run's
		o.granted = math.MaxInt
	} else if ok {
		o.granted -= left
	}
}
