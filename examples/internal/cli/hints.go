package cli

import (
	"context"
	"errors"

	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/hints"
)

// WithHints returns t with hints in its prompts if the flags say so, and a function that ends the processes of both. It
// calls end if there is an error.
func (o *Options) WithHints(ctx context.Context, t task.Task, end func() error) (task.Task, func() error, error) {
	if !o.Hints {
		return t, end, nil
	}
	reader, err := newHints(ctx, task.Ext(t))
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return task.WithHints(t, reader), func() error { return errors.Join(reader.Close(), end()) }, nil
}

// newHints returns the reader of programs in files with the ending ext.
func newHints(ctx context.Context, ext string) (reader interface {
	task.Hints
	Close() error
}, err error) {
	switch task.LanguageOf(ext) {
	case "go":
		reader, err = hints.NewGo(ctx, hints.GoConfig{})
	case "python":
		reader, err = hints.NewPython(ctx, hints.PythonConfig{})
	default:
		return nil, Usagef("--hints reads Python and Go, and the task's programs are in files that end in %s", ext)
	}
	if err != nil {
		return nil, Usagef("--hints: %w", err)
	}
	return reader, nil
}
