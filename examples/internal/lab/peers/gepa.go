package peers

import (
	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// GEPA keeps the programs that are the best at some case, draws a parent by the number of these cases, and asks for a
// rewrite that reflects on the feedback. Of a prompt in named parts one part is rewritten in turn. A child is scored on a
// minibatch of three cases first, and on all if it is strictly better there than its parent. Two programs with a common
// ancestor are merged without a model.
//
// On purpose otherwise:
//   - a step has N children of the archive as it is then; there, one;
//   - merges have a tenth of the children, where there is a pair; there, they are off by default, and at most 5. They cost
//     no call, and without them fronts of binary cases hardly select;
//   - a merge is judged as every child is; there, on 5 cases of its own.
//
// What it needs of the task: scores by case (eval.Result.Cases), else the archive holds the best program alone; and
// [Minibatches], else every child is scored on all cases.
func GEPA(s Setting) population.Config {
	c := s.config()
	c.Archive, c.Select = population.Fronts(), population.FrontFrequency()
	c.Operators = []population.Operator{population.Rewrite{Label: "reflect", Instruction: reflection, InTurn: true},
		&population.Merge{}}
	c.Policy = bandit.Shares{0.9, 0.1}
	if m, ok := task.As[Minibatches](s.Task); ok {
		c.Gates = []population.Gate{population.Screen{On: func(v *population.View) eval.Evaluator { return m.Minibatch(v.Birth, 3) }}}
	}
	return c
}

const reflection = "Read the feedback, say what went wrong and why, and rewrite the program so that it does not " +
	"happen again."

// Minibatches is what a task has that scores a program on a few of its cases.
type Minibatches interface {
	// Minibatch returns the evaluator of n cases, the i-th batch of them. It returns the same value for the same i.
	Minibatch(i, n int) eval.Evaluator
}
