// Package tune makes children without a model, by choosing better values for the numbers of a program.
//
// Most attempts of a long run go into numbers: a model is asked for a program again and again of which a weight or a
// threshold is changed. A [Tuner] is an operator of package population that does this with evaluations alone. The
// numbers of a program are parameters, CMA-ES tries values for them on an evaluator that may be cheaper than the task's,
// and the best ones become a child, which is evaluated like any other. What the tuner tries counts in
// Budget.TuneEvaluations and nowhere else.
//
// If a comment that its line ends begins with "tune:", the numbers on such lines alone are parameters:
//
//	width = 0.3   # tune: 0.1..3
//	block = 64    // tune: 8..4096
//	rate = 0.01   # tune:
//	gone = 1.5    # tune: off
//
// Without bounds, a number's own size is its scale. "off" takes the numbers of the line out, and leaves those of other
// lines in. Else all decimal numbers are parameters but for the integers 0 and 1, and the ones in subscripts. Numbers
// in hexadecimal, in strings and in comments are left alone.
package tune

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// A Tuner is an operator that makes a child of its parent by tuning its numbers. The zero value is ready to use, with a
// Budget.TuneEvaluations that is not 0.
//
// One tuning scores the parent, then each integer a little changed, and then what CMA-ES asks for. An integer whose
// change makes the program invalid, such as the number of things to place, is left as it is. Each distinct program is
// scored once. The best is the child if its tune score passes the promotion rule. If it does not, the child has no
// program and costs nothing but tune evaluations.
//
// A program is tuned once. What came of it is another program, and may be tuned in turn. With ByIndex the result
// depends on no scheduling as long as one arm is in flight: what a tuning may use is set aside for it when it is
// briefed, of what the other arms have left. Where several searches come to the end of the budget together, which of
// them is cut short is chance; a journal records it.
//
// Give each Population a Tuner of its own.
type Tuner struct {
	// On is the evaluator that is tuned on, such as a part of the task's cases; nil means the task's own. It should be one
	// that prints itself and can be compared. Its scores need not be on the task's scale: they are only compared with
	// each other. It must not ask a model.
	On eval.Evaluator
	// Evaluations is how many programs one tuning may score, the parent among them; 0 means 100 and 50 for each parameter.
	Evaluations int
	// Margin is by how much the tune score of the best has to exceed that of the parent; 0 means that any gain will do.
	// Where tune scores are noisy, a few of their standard deviations keep lucky ones away.
	Margin float64

	tried   map[[sha256.Size]byte]bool // programs that were tuned
	granted int                        // evaluations that tunings under way may use, and that ended ones have used
	mu      sync.Mutex
	used    map[int]usage // by child, until it is taken in
}

// A usage is what a tuning was granted, and has used when it ended.
type usage struct {
	granted, used int
	refused       bool // the run had no room for more
}

var (
	_ population.Operator = (*Tuner)(nil)

	// what a population calls beside the methods of an Operator
	_ interface {
		Able(*population.View) bool
		Hint(*population.View) string
		Follow(population.Birth)
	} = (*Tuner)(nil)
)

// hintText is what a model is told while a Tuner is among the operators.
const hintText = "Change the structure of the program. Its numeric constants are tuned automatically afterwards, so " +
	"do not spend the answer on their exact values: " +
	"write each that matters as a literal, with a plausible value."

// Name returns "tune".
func (o *Tuner) Name() string { return "tune" }

// String names the operator and the limits, as a journal recognizes a run by it.
func (o *Tuner) String() string {
	on := "the task"
	if o.On != nil {
		on = nameOf(o.On)
	}
	return fmt.Sprintf("%s(CMAES(population=0, step=0) on %s, evaluations=%d, most=%d, margin=%v)", o.Name(), on,
		o.Evaluations, maxTuned, o.Margin)
}

// maxTuned is how many parameters are tuned at once. Of a program with more, these many are drawn.
const maxTuned = 64

// Hint returns hintText while there is something to tune with.
func (o *Tuner) Hint(v *population.View) string {
	if !o.left(v) {
		return ""
	}
	return hintText
}

// left reports whether the budget has tune evaluations that are not granted.
func (o *Tuner) left(v *population.View) bool { return v.TuneBudget()-o.granted >= leastGrant }

// leastGrant is the least number of evaluations that a tuning is begun with.
const leastGrant = 8

// Able reports whether the parent has parameters and was not tuned before, and the budget has tune evaluations left.
func (o *Tuner) Able(v *population.View) bool {
	return o.left(v) && !o.tried[sha256.Sum256([]byte(v.Parent.Program))] && len(o.find(v)) > 0
}

func (o *Tuner) find(v *population.View) []number {
	return parameters(v.Parent.Program, task.LanguageOf(task.Ext(v.Task)))
}

// Brief makes the child by a tuning.
func (o *Tuner) Brief(v *population.View) evolve.Brief {
	if o.tried == nil {
		o.tried, o.used = make(map[[sha256.Size]byte]bool), make(map[int]usage)
	}
	program := v.Parent.Program
	o.tried[sha256.Sum256([]byte(program))] = true
	numbers := draw(o.find(v), maxTuned, v.Rand)
	grant := min(cmp.Or(o.Evaluations, 100+50*len(numbers)), v.TuneBudget()-o.granted)
	o.granted += grant
	on := o.On
	if on == nil {
		on = v.Task
	}
	t := &tuning{program: program, numbers: numbers, left: grant,
		score: func(ctx context.Context, program string) (eval.Result, error) {
			return v.Tune(ctx, on, program)
		}}
	random := rand.New(rand.NewPCG(v.Rand.Uint64(), v.Rand.Uint64()))
	b := v.Brief()
	b.Make = func(ctx context.Context, _ *evolve.Work) (string, error) {
		best, err := t.run(ctx, random, o.Margin)
		o.mu.Lock()
		o.used[v.Birth] = usage{grant, grant - t.left, t.refused}
		o.mu.Unlock()
		return best, err
	}
	return b
}

// Follow gives back what the tuning did not use.
func (o *Tuner) Follow(b population.Birth) {
	o.mu.Lock()
	defer o.mu.Unlock()
	u, ok := o.used[b.ID]
	delete(o.used, b.ID)
	switch {
	case ok && u.refused: // others have used up the run's
		o.granted = int(^uint(0) >> 1)
	case ok:
		o.granted -= u.granted - u.used
	}
}

// nameOf names an evaluator without its fields, which may hold addresses.
func nameOf(e eval.Evaluator) string {
	switch e := e.(type) {
	case task.Task:
		return e.Name()
	case fmt.Stringer:
		return e.String()
	}
	return fmt.Sprintf("%T", e)
}
