package evolve

import (
	"context"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/task"
)

// TurnOf returns a turn of so many calls that limits and records nothing else.
func TurnOf(calls int) *Turn { return &Turn{calls: calls} }

// StartOf scores the initial program of t outside of a run.
func StartOf(ctx context.Context, t task.Task) (eval.Candidate, error) { return start(ctx, nil, t) }
