package population

import (
	"context"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
)

// Screen scores a program on a few cases first, and admits it to its evaluation if it is strictly better there than
// its parent (GEPA). The parent is scored on the same cases. Both evaluations are booked in the run's budget, and one
// that is equal to an earlier one is remembered.
//
// A program that is invalid on the few cases is refused.
type Screen struct {
	// On returns the evaluator of the cases for a child: some of the task's, drawn by v.Birth or v.Step, and not by a
	// clock. It is called on the child's goroutine. It must return the same value for the same cases, and one that can be
	// compared, so that results are remembered. Required.
	On func(v *View) eval.Evaluator
}

var _ Gate = Screen{}

// Validate fails if On is nil.
func (s Screen) Validate() error {
	if s.On == nil {
		return errors.New("population: Screen.On is nil: need a func that returns the evaluator of a few cases")
	}
	return nil
}

// Admit compares program with v.Parent.
func (s Screen) Admit(ctx context.Context, v *View, program string) (why string, err error) {
	on := s.On(v)
	child, err := v.Evaluate(ctx, on, program)
	if err != nil {
		return "", err
	}
	if !child.Valid {
		return "it is invalid on the cases that come first: " + child.Reason, nil
	}
	parent, err := v.Evaluate(ctx, on, v.Parent.Program)
	if err != nil {
		return "", err
	}
	before, after := eval.Candidate{Result: parent}, eval.Candidate{Result: child}
	if after.Better(before) {
		return "", nil
	}
	return fmt.Sprintf("on the cases that come first it scores %v, and its parent %v", child.Score, parent.Score), nil
}

// String names the gate.
func (s Screen) String() string { return "Screen" }
