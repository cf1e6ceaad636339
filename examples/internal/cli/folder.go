package cli

import (
	"context"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/folder"
)

// folder returns the task in the folder o.Task, which has to be closed. What is wrong with it is a
// [UsageError].
func (o *Options) folder() (task.Task, error) {
	cfg := folder.Config{Python: python.Config{Workers: o.ParallelEval}}
	if o.given["eval-timeout"] {
		cfg.Python.Timeout = o.EvalTimeout
	}
	t, err := folder.Load(context.Background(), o.Task, cfg)
	if err != nil {
		return nil, &UsageError{err}
	}
	return t, nil
}
