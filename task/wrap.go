package task

import (
	"context"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
)

// As returns the first T in the chain of t: t itself, the task that it wraps, and so on through methods Unwrap() Task.
func As[T any](t Task) (T, bool) {
	for t != nil {
		if found, ok := t.(T); ok {
			return found, true
		}
		w, ok := t.(interface{ Unwrap() Task })
		if !ok {
			break
		}
		t = w.Unwrap()
	}
	var none T
	return none, false
}

// Ext returns the ending of files with a program of t, with its dot: the result of the method Ext of t, or of the first
// task in its chain that has one ([As]). It is ".txt" if there is no such method, or if its result does not fit a
// file's name.
func Ext(t Task) string {
	if e, ok := As[interface{ Ext() string }](t); ok && fitExt(e.Ext()) {
		return e.Ext()
	}
	return ".txt"
}

// HeldOut scores program on cases that t holds out from the search: by the method HeldOut of t, or of the first task in
// its chain that has one ([As]). ok is false if there is none. A search's best is often better on the cases that it was
// scored on than on others, so report both scores.
func HeldOut(ctx context.Context, t Task, program string) (r eval.Result, ok bool, err error) {
	h, ok := As[interface {
		HeldOut(ctx context.Context, program string) (eval.Result, error)
	}](t)
	if !ok {
		return eval.Result{}, false, nil
	}
	r, err = h.HeldOut(ctx, program)
	return r, true, err
}

// WithEvaluator returns t with e as its evaluator. Use it to put the wrappers of package eval around a task's own
// evaluator, which is the task itself:
//
//	t = task.WithEvaluator(t, eval.Limit(t, 4))
//
// What t has for tuners is not that of the result: it would pass the wrappers by. It panics if t or e is nil.
func WithEvaluator(t Task, e eval.Evaluator) Task {
	if t == nil || e == nil {
		panic(fmt.Sprintf("task: WithEvaluator(%v, %v): neither may be nil", t, e))
	}
	w := withEvaluator{unevaluated{t}, e}
	if c, ok := e.(eval.Composite); ok {
		return &withComposite{w, c}
	}
	return &w
}

// unevaluated hides a task's Evaluate one level down, so that the other's is promoted.
type unevaluated struct{ Task }

type withEvaluator struct {
	unevaluated
	eval.Evaluator
}

// EvaluateSample passes the sample's number on to the evaluator.
func (t *withEvaluator) EvaluateSample(ctx context.Context, program string, sample int) (eval.Result, error) {
	return eval.EvaluateSample(ctx, t.Evaluator, program, sample)
}

// withComposite is a withEvaluator whose evaluator has parts, which a run evaluates by themselves.
type withComposite struct {
	withEvaluator
	c eval.Composite
}

var (
	_ Task           = (*withEvaluator)(nil)
	_ eval.Sampler   = (*withEvaluator)(nil)
	_ eval.Composite = (*withComposite)(nil)
)

// Parts returns the parts of the evaluator.
func (t *withComposite) Parts(program string, sample int) ([]eval.Evaluator, error) {
	return t.c.Parts(program, sample)
}

// Join joins as the evaluator does.
func (t *withComposite) Join(program string, parts []eval.Result) (eval.Result, error) {
	return t.c.Join(program, parts)
}

// Unwrap returns the original task, whose optional methods apply, but for TuneEvaluator.
func (t *withEvaluator) Unwrap() Task { return t.Task }

// TuneEvaluator returns an error, an [errors.ErrUnsupported]: whoever puts limits or workers around a task's evaluator
// puts them around that for tuners too, and hands it on by itself.
func (t *withEvaluator) TuneEvaluator(context.Context) (eval.Evaluator, error) {
	return nil, fmt.Errorf("task: %s has another evaluator: %w", t.Name(), errors.ErrUnsupported)
}

func (t *withEvaluator) String() string {
	return fmt.Sprintf("WithEvaluator(%v, %v)", t.Task, t.Evaluator)
}
