package task

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
)

// WithHints returns t with the hints of h for each parent in the prompt: at most the 12 heaviest, of 160 bytes each.
// Nothing else changes, in particular no scores. Hints that fail or panic are left out. h is called once for each
// program ([Remembered]).
//
// The hints go to t's Prompt as [Ask].Hints. The tasks of [New] show them. A task with a prompt of its own must show
// them itself.
//
// Its Fingerprint consists of that of t, if t or a task that it wraps has one, and of h's. So a journal begun with
// hints cannot be resumed without them. WithHints panics if t or h is nil.
func WithHints(t Task, h Hints) Task {
	if t == nil || h == nil {
		panic(fmt.Sprintf("task: WithHints(%v, %v): neither may be nil", t, h))
	}
	w := withHints{t, Remembered(h)}
	if c, ok := t.(eval.Composite); ok {
		return &withCompositeHints{w, c}
	}
	return &w
}

type withHints struct {
	Task
	h Hints
}

// withCompositeHints is a withHints whose task has parts, which a run evaluates by themselves.
type withCompositeHints struct {
	withHints
	c eval.Composite
}

var (
	_ Task           = (*withHints)(nil)
	_ eval.Sampler   = (*withHints)(nil)
	_ eval.Composite = (*withCompositeHints)(nil)
)

// EvaluateSample passes the sample's number on to the task.
func (t *withHints) EvaluateSample(ctx context.Context, program string, sample int) (eval.Result, error) {
	return eval.EvaluateSample(ctx, t.Task, program, sample)
}

// Prompt shows the hints of the parents, or of the initial program if there are none.
func (t *withHints) Prompt(ask Ask) []llm.Message {
	programs := []string{t.Initial()}
	if len(ask.Parents) > 0 {
		programs = programs[:0]
		for _, p := range ask.Parents {
			programs = append(programs, p.Program)
		}
	}
	all := make([][]Hint, len(programs))
	for i, program := range programs {
		if hints, err := t.h.Hints(program); err == nil {
			all[i] = hints
		}
		if i < len(ask.Hints) { // of another WithHints around this one
			all[i] = slices.Concat(ask.Hints[i], all[i])
		}
	}
	ask.Hints = all
	return t.Task.Prompt(ask)
}

// Fingerprint returns that of the task, and of the hints.
func (t *withHints) Fingerprint() string {
	own := ""
	if f, ok := As[interface{ Fingerprint() string }](t.Task); ok {
		own = f.Fingerprint()
	}
	return strings.TrimSpace(own + " with hints " + hintsName(t.h))
}

// Unwrap returns the original task, whose optional methods apply.
func (t *withHints) Unwrap() Task { return t.Task }

func (t *withHints) String() string { return fmt.Sprintf("WithHints(%v, %s)", t.Task, hintsName(t.h)) }

// Parts returns the parts of the task.
func (t *withCompositeHints) Parts(program string, sample int) ([]eval.Evaluator, error) {
	return t.c.Parts(program, sample)
}

// Join joins as the task does.
func (t *withCompositeHints) Join(program string, parts []eval.Result) (eval.Result, error) {
	return t.c.Join(program, parts)
}
