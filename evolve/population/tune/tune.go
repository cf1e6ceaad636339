// Package tune makes children without a model, by choosing better values for the numbers of a program.
//
// Most attempts of a long run go into numbers: a model is asked for a program again and again of which a weight or a
// threshold is changed. A [Tuner] is an operator of package population that does this with evaluations alone. The
// numbers of a program are parameters ([Parameters]), a [Method] tries values for them on an evaluator that may be
// cheaper than the task's, and the best ones become a child, which is evaluated like any other. What the tuner tries
// counts in Budget.TuneEvaluations and nowhere else.
package tune

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// A Tuner is an operator that makes a child of its parent by tuning its numbers. The zero value is ready to use, with a
// Budget.TuneEvaluations that is not 0.
//
// One tuning scores the parent, then each integer a little changed, and then what its Method asks for. An integer whose
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
	// Find returns the numbers of a program that are parameters; nil means [Parameters] in the language of the task.
	Find func(program string) []Number
	// Method tries values; nil means [CMAES].
	Method Method
	// Evaluations is how many programs one tuning may score, the parent among them; 0 means 100 and 50 for each parameter.
	Evaluations int
	// Margin is by how much the tune score of the best has to exceed that of the parent; 0 means that any gain will do.
	// Where tune scores are noisy, a few of their standard deviations keep lucky ones away.
	Margin float64
	// Parallel is how many programs of a tuning are scored at once; 0 means as many as there are processors. It does not
	// change the result.
	Parallel int
	// Timeout is how long one tune evaluation may take before its program counts as invalid; 0 means as long as On lets
	// it. It is for an On that heeds its context but has no limit of its own.
	Timeout time.Duration
	// Quiet keeps from the model that numbers are tuned. Otherwise what it is asked says so.
	Quiet bool

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

// String names the operator, the method and the limits, as a journal recognizes a run by it.
func (o *Tuner) String() string {
	on := "the task"
	if o.On != nil {
		on = nameOf(o.On)
	}
	return fmt.Sprintf("%s(%v on %s, evaluations=%d, most=%d, margin=%v)", o.Name(), o.method(), on, o.Evaluations,
		maxTuned, o.Margin)
}

func (o *Tuner) method() Method {
	if o.Method == nil {
		return CMAES{}
	}
	return o.Method
}

// maxTuned is how many parameters are tuned at once. Of a program with more, these many are drawn.
const maxTuned = 64

// Hint returns hintText while there is something to tune with.
func (o *Tuner) Hint(v *population.View) string {
	if o.Quiet || !o.left(v) {
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

func (o *Tuner) find(v *population.View) []Number {
	if o.Find != nil {
		return o.Find(v.Parent.Program)
	}
	return Parameters(v.Parent.Program, task.LanguageOf(task.Ext(v.Task)))
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
	t := &tuning{program: program, numbers: numbers, left: grant, parallel: cmp.Or(o.Parallel, runtime.GOMAXPROCS(0)),
		score: func(ctx context.Context, program string) (eval.Result, error) {
			return v.Tune(ctx, o.within(on), program)
		}}
	random := rand.New(rand.NewPCG(v.Rand.Uint64(), v.Rand.Uint64()))
	b := v.Brief()
	b.Make = func(ctx context.Context, _ *evolve.Work) (string, error) {
		best, err := t.run(ctx, o.method(), random, o.Margin)
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

// within returns on with the Timeout.
func (o *Tuner) within(on eval.Evaluator) eval.Evaluator {
	if o.Timeout == 0 {
		return on
	}
	return timed{on, o.Timeout}
}

// A timed evaluator takes a program that needs too long for an invalid one.
type timed struct {
	eval.Evaluator
	most time.Duration
}

// Evaluate scores program in the time that there is.
func (t timed) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	limited, cancel := context.WithTimeout(ctx, t.most)
	defer cancel()
	r, err := t.Evaluator.Evaluate(limited, program)
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return eval.Invalid("its tune evaluation took more than %v", t.most), nil
	}
	return r, err
}

// String names the evaluator.
func (t timed) String() string { return fmt.Sprintf("%s within %v", nameOf(t.Evaluator), t.most) }

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
