package task

import (
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
)

// Ext returns the ending of files that hold a program of t, with its dot: what t's Ext method
// returns if it has one, else that of the task it wraps (an Unwrap method that returns a Task), else
// ".txt". An ending that does not fit a file's name counts as none.
func Ext(t Task) string {
	for t != nil {
		if e, ok := t.(interface{ Ext() string }); ok && fitExt(e.Ext()) {
			return e.Ext()
		}
		w, ok := t.(interface{ Unwrap() Task })
		if !ok {
			break
		}
		t = w.Unwrap()
	}
	return ".txt"
}

// WithEvaluator returns t with its programs scored by e and all else as it was. It is how the
// wrappers of package eval are put around a task's own evaluator, which is the task itself:
//
//	t = task.WithEvaluator(t, eval.Limit(t, 4))
//
// It panics if t or e is nil.
func WithEvaluator(t Task, e eval.Evaluator) Task {
	if t == nil || e == nil {
		panic(fmt.Sprintf("task: WithEvaluator(%v, %v): neither may be nil", t, e))
	}
	return &withEvaluator{unevaluated{t}, e}
}

// unevaluated hides a task's Evaluate one level down, so that the other's is promoted.
type unevaluated struct{ Task }

type withEvaluator struct {
	unevaluated
	eval.Evaluator
}

var _ Task = (*withEvaluator)(nil)

// Unwrap returns the task as it was, whose optional methods hold.
func (t *withEvaluator) Unwrap() Task { return t.Task }

func (t *withEvaluator) String() string {
	return fmt.Sprintf("WithEvaluator(%v, %v)", t.Task, t.Evaluator)
}
