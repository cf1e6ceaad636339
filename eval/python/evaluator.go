package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// EvaluatorConfig configures how a folder's evaluator.py is run.
type EvaluatorConfig struct {
	Config
	// Thresholds are the scores that a program must reach in the stages of a cascade to enter the next stage; nil means
	// 0.5, 0.75. A stage without a threshold before it is not run.
	Thresholds []float64
	// NoCascade means that evaluate is called even if there is an evaluate_stage1.
	NoCascade bool
	// Tune means that only the cheap evaluate_tune is called, or evaluate_stage1 if there is none. It is for a tuner,
	// which tries many values for the numbers of a program.
	Tune bool
	// Suffix is the ending of the candidate's file; "" means ".py".
	Suffix string
	// Files means that a program is several files: a JSON object with the text of each by its path. program_path is a
	// folder that has them, and Suffix is not used. Who makes the object checks the paths.
	Files bool
}

// An Evaluator scores programs with the unchanged evaluator.py of a folder. The file defines evaluate(program_path), or
// evaluate_stage1 and further stages up to 3: a stage is run only if the score of those before it reached the
// threshold, and its metrics are added to theirs. Each returns a dict, or an object with the dicts metrics and
// artifacts; openevolve's EvaluationResult is there to import. The score is the metric combined_score, else the mean of
// all metrics that are finite numbers. Entries that are not numbers are artifacts. A nonempty entry called error makes
// the program invalid, for that reason, as does an exception.
//
// The evaluator is imported afresh for every program, in a contained process of its own. Its working directory is its
// folder. What it writes there, to /tmp and to the temporary folder is gone afterwards; where there are no layers it
// can write to the temporary folder alone. Modules from outside its folder are imported once, beforehand.
//
// If an evaluator runs the program in its own process, a hostile program can make it return any score; see
// docs/security.md. An evaluator that runs the program in another process is safe from that.
//
// An Evaluator is safe for concurrent use. Close it, or its interpreters stay until this process ends.
type Evaluator struct {
	pool   *pool
	cfg    EvaluatorConfig
	report isolation.Report
	stages []string
}

var _ eval.Evaluator = (*Evaluator)(nil)

// evaluatorProcesses is the default of Config.Processes for an evaluator.
const evaluatorProcesses = 64

// NewEvaluator starts a first interpreter and has it import dir's evaluator.py, so that missing modules are reported
// before anything is paid for.
func NewEvaluator(ctx context.Context, dir string, cfg EvaluatorConfig) (*Evaluator, error) {
	return newEvaluator(ctx, dir, cfg, sandbox.Mechanisms())
}

// newEvaluator is NewEvaluator with these mechanisms of containment alone.
func newEvaluator(ctx context.Context, dir string, cfg EvaluatorConfig,
	mechanisms []isolation.Mechanism) (*Evaluator, error) {
	cfg, dir, err := cfg.filled(dir)
	if err != nil {
		return nil, err
	}
	k, err := newKind(ctx, cfg.Config, mechanisms, cfg.maxStages(), dir)
	if err != nil {
		return nil, err
	}
	k.orders.Suffix, k.orders.Cascade, k.orders.Thresholds, k.orders.Tune = cfg.Suffix, !cfg.NoCascade, cfg.Thresholds,
		cfg.Tune
	k.orders.Files = cfg.Files
	p, report, err := open(ctx, cfg.Config, k)
	if err != nil {
		return nil, err
	}
	e := &Evaluator{pool: p, cfg: cfg, report: report}
	if err := e.inspect(ctx, dir); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return e, nil
}

// filled returns cfg with its defaults, and dir as the interpreter sees it.
func (cfg EvaluatorConfig) filled(dir string) (EvaluatorConfig, string, error) {
	switch {
	case cfg.Files:
		cfg.Suffix = ""
	case cfg.Suffix == "":
		cfg.Suffix = ".py"
	}
	if strings.ContainsAny(cfg.Suffix, "/\\\x00") {
		return cfg, "", fmt.Errorf("python: EvaluatorConfig.Suffix is %q: want the ending of a file's name, such as .py",
			cfg.Suffix)
	}
	if cfg.Thresholds = slices.Clone(cfg.Thresholds); cfg.Thresholds == nil {
		cfg.Thresholds = []float64{0.5, 0.75}
	}
	var err error
	if cfg.Config, err = cfg.Config.filled(evaluatorProcesses); err != nil {
		return cfg, "", err
	}
	if dir, err = filepath.Abs(dir); err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "evaluator.py"))
	}
	if err != nil {
		return cfg, "", fmt.Errorf("python: looking for evaluator.py: %w", err)
	}
	return cfg, dir, nil
}

func (cfg EvaluatorConfig) maxStages() int {
	if cfg.NoCascade || cfg.Tune {
		return 1
	}
	return min(len(cfg.Thresholds), 2) + 1
}

// inspect finds the stages of the evaluator.
func (e *Evaluator) inspect(ctx context.Context, dir string) error {
	file := filepath.Join(dir, "evaluator.py")
	o, err := e.pool.do(ctx, job{task: taskInspect})
	if err != nil {
		return fmt.Errorf("python: importing %s: %w", file, err)
	}
	if bad := o.fault(e.cfg.Config); bad != nil {
		return fmt.Errorf("python: importing %s: %w\n%s", file, bad, bad.Artifacts["traceback"])
	}
	if err := json.Unmarshal(o.body, &e.stages); err != nil {
		return fmt.Errorf("python: importing %s: %w", file, err)
	}
	if len(e.stages) == 0 && e.cfg.Tune {
		return fmt.Errorf("python: %s defines neither evaluate_tune nor evaluate_stage1: %w", file, errors.ErrUnsupported)
	}
	if len(e.stages) == 0 {
		return fmt.Errorf("python: %s defines neither evaluate nor evaluate_stage1", file)
	}
	return nil
}

// Evaluate scores program. The artifacts are the evaluator's, and the output ("stdout", "stderr").
func (e *Evaluator) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	o, err := e.pool.do(ctx, job{task: taskEvaluate, program: program})
	if errors.Is(err, errDied) {
		return eval.Invalid("ended the interpreter that ran it, twice"), nil
	}
	if err != nil {
		return eval.Result{}, err
	}
	if bad := o.fault(e.cfg.Config); bad != nil {
		return eval.Result{Reason: bad.Reason, Artifacts: bad.Artifacts}.Clean(), nil
	}
	return o.result().Clean(), nil
}

// result returns the evaluator's result.
func (o execution) result() eval.Result {
	var found struct {
		Score     *float64           `json:"score"`
		Reason    string             `json:"reason"`
		Metrics   map[string]float64 `json:"metrics"`
		Artifacts map[string]string  `json:"artifacts"`
	}
	r := eval.Result{Artifacts: o.artifacts()}
	if err := json.Unmarshal(o.body, &found); err != nil {
		r.Reason = "the evaluator's process sent a result that is not understood"
		return r
	}
	for name, text := range found.Artifacts {
		r.Artifacts[name] = o.relative(text)
	}
	r.Metrics, r.Reason = found.Metrics, o.relative(found.Reason)
	if r.Valid = found.Score != nil && found.Reason == ""; r.Valid {
		r.Score = *found.Score
	}
	return r
}

// Isolation reports which mechanisms of containment are in force.
func (e *Evaluator) Isolation() isolation.Report { return e.report }

// Interpreter returns the path of the interpreter in use.
func (e *Evaluator) Interpreter() string { return e.pool.kind.interpreter }

// Close ends all interpreters. Evaluations under way fail with [ErrClosed].
func (e *Evaluator) Close() error { return e.pool.close() }

// String returns a description for people.
func (e *Evaluator) String() string {
	return fmt.Sprintf("python.Evaluator(%s, %d at once)", e.pool.kind.orders.Folder, e.pool.size)
}
