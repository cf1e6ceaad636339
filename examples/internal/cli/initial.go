package cli

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/task"
)

// tryInitial evaluates the initial program, before anything is written or paid for: where it is invalid,
// every rewrite is likely to be, for the same reason, and the whole budget would go on nothing. That is a
// [UsageError]. Otherwise the task of s knows the result from then on.
func (s *Setup) tryInitial(ctx context.Context) error {
	start, err := evolve.Evaluate(ctx, s.Task)
	switch {
	case err != nil && ctx.Err() != nil:
		return ErrCanceled
	case err != nil:
		return err
	case !start.Result.Valid:
		return Usagef("the initial program of task %s is invalid: %s; nothing was asked of the model", s.Task.Name(), start.Result.Reason)
	}
	s.Task = task.WithEvaluator(s.Task, known{s.Task, start})
	return nil
}

// known is an evaluator that has one result already.
type known struct {
	eval.Evaluator
	eval.Candidate
}

func (k known) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	if program == k.Program {
		return k.Result, nil
	}
	return k.Evaluator.Evaluate(ctx, program)
}

func (k known) String() string { return fmt.Sprint(k.Evaluator) }
