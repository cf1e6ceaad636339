package folder

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/tree"
)

// checkTree returns an error unless the folder of an initial program has text files alone, which fit an evaluation.
func checkTree(dir string) error {
	var wrong error
	size := 0
	_, err := patch.Walk(dir, func(e patch.Entry) {
		size += len(e.Content)
		switch {
		case wrong != nil || e.Kind == patch.Folder:
		case e.Kind == patch.Link:
			wrong = fmt.Errorf("%s/%s is a link: put a copy in its place", initialFolder, e.Name)
		default:
			if _, err := patch.TextOf(e.Content); err != nil {
				wrong = fmt.Errorf("%s/%s is no text that a program can have, as %w: remove it, or keep data beside %s",
					initialFolder, e.Name, err, evaluatorFile)
			}
		}
	})
	switch {
	case err != nil || wrong != nil:
		return errors.Join(wrong, err)
	case size == 0:
		return fmt.Errorf("%s has no text", initialFolder)
	case size > maxProgram:
		return fmt.Errorf("%s has %d bytes: need at most %d, as data is kept beside %s",
			initialFolder, size, maxProgram, evaluatorFile)
	}
	return nil
}

// setTree makes the task that of an initial program of several files.
func (f *Folder) setTree(dir string, s settings) {
	f.Spec.Ext, f.Spec.Language, f.Evaluation.Files = "", "", true
	f.Tree = &tree.Config{Name: f.Spec.Name, Base: dir, Open: []string{"**"}, About: f.Spec.System,
		Feedback: cmp.Or(s.feedback, -1)} // 0 is another number there
	if s.ignoreMarkers {
		f.Warnings = append(f.Warnings, "enforce_evolve_blocks is false, and has no effect where a program has several files")
	}
}

// newTree returns the task of a program of several files.
func newTree(cfg tree.Config, scorer eval.Evaluator) (task.Task, error) {
	files := &filesEvaluator{scorer: scorer}
	cfg.Evaluator = files
	t, err := tree.New(cfg)
	if err != nil {
		return nil, err
	}
	files.of = t
	return t, nil
}

// A filesEvaluator hands a tree's files to what scores them, as an object in JSON.
type filesEvaluator struct {
	of     *tree.Task
	scorer eval.Evaluator
}

var _ eval.Sampler = (*filesEvaluator)(nil)

func (e *filesEvaluator) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return e.EvaluateSample(ctx, program, 0)
}

// EvaluateSample makes the evaluation with this number.
func (e *filesEvaluator) EvaluateSample(ctx context.Context, program string, sample int) (eval.Result, error) {
	files := make(map[string]string)
	for _, name := range e.of.Files(program) {
		var err error
		if files[name], err = e.of.File(program, name); err != nil { // for which no program is to blame
			return eval.Result{}, fmt.Errorf("folder: reading a program's file: %w", err)
		}
	}
	text, err := json.Marshal(files)
	if err != nil {
		return eval.Result{}, fmt.Errorf("folder: %w", err)
	}
	return eval.EvaluateSample(ctx, e.scorer, string(text), sample)
}

// String names what scores.
func (e *filesEvaluator) String() string { return fmt.Sprint(e.scorer) }
