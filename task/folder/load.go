package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/task"
)

// A Task is the task of a folder, with its evaluator running. It is safe for concurrent use. Close it, or its
// interpreters stay until this process ends.
type Task struct {
	task.Task
	folder *Folder
	closer io.Closer // nil if there is nothing to close
	cfg    Config

	mu     sync.Mutex
	tune   *python.Evaluator // nil until first used
	noTune error             // why there is none
}

var (
	_ task.Task    = (*Task)(nil)
	_ eval.Sampler = (*Task)(nil)
)

// Load reads the folder dir as [Read] does, starts its evaluator, so that missing parts are reported before anything is
// paid for, and logs each of the folder's warnings once. ctx bounds only Load itself.
func Load(ctx context.Context, dir string, cfg Config) (*Task, error) {
	f, err := Read(dir, cfg)
	if err != nil {
		return nil, err
	}
	// Report errors of New before an interpreter is started.
	if _, err := f.newTask(eval.Func(nil)); err != nil {
		return nil, fmt.Errorf("folder: %s: %w", dir, err)
	}
	scorer, err := cfg.start(ctx, f.Evaluation)
	if err != nil {
		return nil, fmt.Errorf("folder: %s: %w", dir, err)
	}
	closer, _ := scorer.(io.Closer)
	t := &Task{folder: f, closer: closer, cfg: cfg}
	if t.Task, err = f.newTask(scorer); err != nil {
		return nil, fmt.Errorf("folder: %s: %w", dir, errors.Join(err, t.Close()))
	}
	for _, w := range f.Warnings {
		cmp.Or(cfg.Logger, slog.Default()).Warn("task folder", "folder", dir, "warning", printable.Line(w))
	}
	return t, nil
}

// newTask returns the task with an evaluator.
func (f *Folder) newTask(scorer eval.Evaluator) (task.Task, error) {
	if f.Tree != nil {
		return newTree(*f.Tree, scorer)
	}
	f.Spec.Evaluator = scorer
	return task.New(f.Spec)
}

// start makes the evaluator.
func (cfg Config) start(ctx context.Context, e Evaluation) (eval.Evaluator, error) {
	if cfg.Evaluator != nil {
		return cfg.Evaluator(ctx, e)
	}
	out, err := cfg.python(ctx, e, false)
	if err != nil {
		return nil, err // not a nil *python.Evaluator in a non-nil eval.Evaluator
	}
	return out, nil
}

// python starts an interpreter for evaluator.py, for a tuner or for the task's evaluator.
func (cfg Config) python(ctx context.Context, e Evaluation, tune bool) (*python.Evaluator, error) {
	p := cfg.Python
	p.Timeout = cmp.Or(p.Timeout, e.Timeout)
	p.Memory = cmp.Or(p.Memory, e.Memory)
	p.Logger = cmp.Or(p.Logger, cfg.Logger)
	return python.NewEvaluator(ctx, e.Dir, python.EvaluatorConfig{
		Config: p, Thresholds: e.Thresholds, NoCascade: e.NoCascade, Tune: tune, Suffix: e.Suffix, Files: e.Files,
	})
}

// TuneEvaluator returns a cheaper evaluator of the folder for a tuner (package tune) and for the tries of agents:
// evaluate_tune(program_path) of its evaluator.py, which may score part of the cases or repeat less, or if there is
// none evaluate_stage1 alone. If there is neither, the error is an [errors.ErrUnsupported]. The first call starts an
// interpreter, which Close ends.
func (t *Task) TuneEvaluator(ctx context.Context) (eval.Evaluator, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.noTune != nil {
		return nil, t.noTune
	}
	if t.tune == nil {
		e, err := t.cfg.python(ctx, t.folder.Evaluation, true)
		if err != nil {
			err = fmt.Errorf("folder: %w", err)
			if errors.Is(err, errors.ErrUnsupported) { // for good
				t.noTune = err
			}
			return nil, err
		}
		t.tune = e
	}
	return t.tune, nil
}

// Folder returns the contents of the folder.
func (t *Task) Folder() *Folder { return t.folder }

// Fingerprint returns the folder's.
func (t *Task) Fingerprint() string { return t.folder.Fingerprint }

// Interpreter returns the path of the Python that runs evaluator.py, or "" if something else does.
func (t *Task) Interpreter() string {
	if p, ok := t.closer.(interface{ Interpreter() string }); ok {
		return p.Interpreter()
	}
	return ""
}

// EvaluateSample passes the sample's number on to the evaluator.
func (t *Task) EvaluateSample(ctx context.Context, program string, sample int) (eval.Result, error) {
	return eval.EvaluateSample(ctx, t.Task, program, sample)
}

// Unwrap returns the task made from the folder, which has the optional methods.
func (t *Task) Unwrap() task.Task { return t.Task }

// Close ends the evaluator, if it has a Close method. Evaluations that are running fail.
func (t *Task) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var err error
	if t.tune != nil {
		err = t.tune.Close()
	}
	if t.closer != nil {
		err = errors.Join(err, t.closer.Close())
	}
	return err
}

// String names the task and the folder.
func (t *Task) String() string { return fmt.Sprintf("Folder(%v, %s)", t.Task, t.folder.Evaluation.Dir) }
