package agent

import (
	"context"
	"errors"
	"sync"

	"github.com/evoalloc/evoalloc/eval"
)

// A tuner is a task that may have an evaluator for tuners, such as a folder's evaluate_tune. It must be comparable.
type tuner interface {
	TuneEvaluator(context.Context) (eval.Evaluator, error)
}

// tuners are the evaluators that tasks have for tuners, nil for those that have none. A task is asked once, as it may
// start processes. It is safe for concurrent use.
type tuners struct {
	mu    sync.Mutex
	known map[tuner]eval.Evaluator
}

// of returns the evaluator of the task t, which is called name. One that does not start is asked for again.
func (c *tuners) of(ctx context.Context, t tuner, name string) (eval.Evaluator, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.known[t]; ok {
		return e, nil
	}
	e, err := t.TuneEvaluator(ctx)
	switch {
	case err == nil:
		e = cheaper{e, name, t}
	case errors.Is(err, errors.ErrUnsupported):
		e = nil
	default:
		return nil, err
	}
	if c.known == nil {
		c.known = make(map[tuner]eval.Evaluator)
	}
	c.known[t] = e
	return e, nil
}

// A cheaper evaluator is that of a task for tuners. A journal knows it by the task, on whatever machine it is, and
// those of several Loops are one: numbered in the order in which they are asked, each could be the other in a run that
// is resumed.
type cheaper struct {
	eval.Evaluator
	task string
	of   tuner
}

// A triesOf tells the evaluators for tuners from others.
type triesOf struct{ tuner }

// Identity returns what c is of.
func (c cheaper) Identity() any { return triesOf{c.of} }

// String names the task.
func (c cheaper) String() string { return "tries of " + c.task }
