package task

import (
	"context"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
)

// withAsk is a task that is asked for something else.
type withAsk struct {
	Task
	what   string // for fingerprints
	change func(Request) Request
}

// withCompositeAsk is a withAsk whose task has parts, which a run evaluates by themselves.
type withCompositeAsk struct {
	withAsk
	c eval.Composite
}

var (
	_ Task           = (*withAsk)(nil)
	_ eval.Sampler   = (*withAsk)(nil)
	_ eval.Composite = (*withCompositeAsk)(nil)
)

// Asked returns ask as the wrappers of t change it before t writes its prompt, by the method Asked(Request) Request of the
// first task in the chain of t that has one ([As]), which calls Asked for the task inside. What a prompt of t shows
// beside the parents is Asked(t, ask).Shown().
func Asked(t Task, ask Request) Request {
	if w, ok := As[interface{ Asked(Request) Request }](t); ok {
		return w.Asked(ask)
	}
	return ask
}

// asking returns w with the parts of its task, if that has any.
func asking(w withAsk) Task {
	if c, ok := w.Task.(eval.Composite); ok {
		return &withCompositeAsk{w, c}
	}
	return &w
}

// EvaluateSample passes the sample's number on to the task.
func (t *withAsk) EvaluateSample(ctx context.Context, program string, sample int) (eval.Result, error) {
	return eval.EvaluateSample(ctx, t.Task, program, sample)
}

// Prompt changes the ask.
func (t *withAsk) Prompt(ask Request) []llm.Message { return t.Task.Prompt(t.change(ask)) }

// Asked changes the ask, as the tasks inside do then.
func (t *withAsk) Asked(ask Request) Request { return Asked(t.Task, t.change(ask)) }

// Fingerprint returns that of the task, and what is asked for.
func (t *withAsk) Fingerprint() string {
	own := ""
	if f, ok := As[interface{ Fingerprint() string }](t.Task); ok {
		own = f.Fingerprint()
	}
	return strings.TrimSpace(own + " " + t.what)
}

// Unwrap returns the original task, whose optional methods apply.
func (t *withAsk) Unwrap() Task { return t.Task }

func (t *withAsk) String() string { return fmt.Sprintf("%v %s", t.Task, t.what) }

// Parts returns the parts of the task.
func (t *withCompositeAsk) Parts(program string, sample int) ([]eval.Evaluator, error) {
	return t.c.Parts(program, sample)
}

// Join joins as the task does.
func (t *withCompositeAsk) Join(program string, parts []eval.Result) (eval.Result, error) {
	return t.c.Join(program, parts)
}
