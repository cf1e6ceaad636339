package task

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
)

// WithHints returns t with what h finds in each parent shown in the prompt beside what else is said of it: at most 12
// hints, the heaviest, of 160 bytes each. Everything else stays as it was, scores among it. Hints that fail or panic are
// left out. h is asked once for each program ([Remembered]).
//
// The hints go to t's Prompt as [Ask].Hints. The tasks of [New] show them. A task with a prompt of its own has to.
//
// Its Fingerprint is that of t, if t or what it wraps has one, and what tells h from other Hints. So a journal that was
// begun with hints does not go on without. It panics if t or h is nil.
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

// EvaluateSample makes an evaluation with the task, which may have to know its number.
func (t *withHints) EvaluateSample(ctx context.Context, program string, sample int) (eval.Result, error) {
	return eval.EvaluateSample(ctx, t.Task, program, sample)
}

// Prompt shows the hints of the parents, or of the initial program where there are none.
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

// Unwrap returns the task as it was, whose optional methods hold.
func (t *withHints) Unwrap() Task { return t.Task }

func (t *withHints) String() string { return fmt.Sprintf("WithHints(%v, %s)", t.Task, hintsName(t.h)) }

// Parts returns those of the task.
func (t *withCompositeHints) Parts(program string, sample int) ([]eval.Evaluator, error) {
	return t.c.Parts(program, sample)
}

// Join joins as the task does.
func (t *withCompositeHints) Join(program string, parts []eval.Result) (eval.Result, error) {
	return t.c.Join(program, parts)
}
