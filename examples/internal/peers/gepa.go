package peers

import (
	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// GEPA keeps every program that it accepts, draws a parent by the number of cases at which it is the best of those
// that are needed, has it answer a fresh minibatch of three train cases, and asks for a rewrite that reflects on these.
// A parent that is perfect on them is not rewritten. Of a prompt in named parts one part is rewritten in turn. A child
// is scored on the same minibatch first, and on the validation cases, whose fronts count, if it is strictly better
// there than its parent. After a child that was accepted two programs that are needed are merged without a model, if
// they have a common ancestor, until five merges are accepted. A merge is if it is at least as good as both on five
// validation cases.
//
// On purpose otherwise:
//   - a step has N children of the pool as it is then, as with IndependentSampling(N); the original's default is one.
//     Of more than 16 that many are under way, and each that ends makes room for the next, unless a window is given. So
//     which ends first decides what is asked for next, and the journal alone repeats a run;
//   - merges are on, as they cost no call; there, they are off by default. They join lines as diff3 does, from the
//     youngest common ancestor; there, named parts, from one drawn by score. A merge that is not accepted is scored on
//     all cases, and there, on the five;
//   - perfect is a score of 1 in each case, while no program has more in any: with scores on a larger scale, no parent
//     is; there, a score of at least perfect_score, which is 1 unless it is set;
//   - a search whose parents were perfect 32 times in a row is done; there, it goes on;
//   - the first part to rewrite is not that where the parent's own parent was.
//
// What it needs of the task: scores by case (eval.Result.Cases), else the best program alone is drawn, and nothing is
// merged; and [Minibatches], else every child is scored on all cases, and the prompt has the feedback of the parent's
// own evaluation.
func GEPA(s Setting) population.Config {
	p := &pool{seed: s.Seed}
	c := s.config()
	c.Archive, c.Select = p, front{}
	r := reflects{population.Rewrite{Label: "reflect", Instruction: reflection, InTurn: true}, p, nil}
	if m, ok := task.As[Minibatches](s.Task); ok {
		r.on = func(v *population.View) eval.Evaluator { return m.Minibatch(v.Birth, 3) }
		c.Gates = []population.Gate{unmerged{population.Screen{On: r.on}, p}}
	}
	c.Operators = []population.Operator{&merges{pool: p}, r}
	c.Policy = bandit.Shares{0.5, 0.5}     // only one of them can
	if c.Window == 0 && c.N > gepaWindow { // a brief needs the pool of then, and not that of a step's end
		c.Window, c.Order = gepaWindow, evolve.AsTheyEnd
	}
	return c
}

// gepaWindow is how many children are under way unless the setting says it, if a step has as many.
const gepaWindow = 16

const reflection = "Read the feedback, say what went wrong and why, and rewrite the program so that it does not " +
	"happen again."

// Minibatches is what a task has that scores a program on a few of its cases.
type Minibatches interface {
	// Minibatch returns the evaluator of n cases, the i-th batch of them. It returns the same value for the same i. What a
	// result says of the cases, its artifacts, is shown to the model that rewrites.
	Minibatch(i, n int) eval.Evaluator
}
