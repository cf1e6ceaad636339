package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// A Runner runs the entry function of Python programs, each in a fresh, contained process forked from an interpreter
// that has done its imports. The return value must be data: finite numbers, strings, bools, None, and lists, tuples,
// dicts, numpy arrays and scalars of these. Numbers reach Go bit for bit. The generators of random and numpy.random
// start from the same seed in every candidate.
//
// A Runner is safe for concurrent use. Close it, or its interpreters stay until this process ends.
type Runner struct {
	pool   *pool
	cfg    Config
	report isolation.Report
}

var _ eval.Runner = (*Runner)(nil)

// NewRunner starts a first interpreter, so that before anything is paid for it reports what is missing: an interpreter,
// a module, or under [isolation.Strict] a mechanism of containment.
func NewRunner(ctx context.Context, cfg Config) (*Runner, error) {
	cfg, err := cfg.filled(0)
	if err != nil {
		return nil, err
	}
	k, err := newKind(ctx, cfg, sandbox.Mechanisms(), 1, "")
	if err != nil {
		return nil, err
	}
	p, report, err := open(ctx, cfg, k)
	if err != nil {
		return nil, err
	}
	return &Runner{p, cfg, report}, nil
}

// newKind finds an interpreter and returns how to start it, with at most the given mechanisms.
func newKind(ctx context.Context, cfg Config, mechanisms []isolation.Mechanism, stages int,
	folder string) (*kind, error) {
	q := query{Modules: cfg.Imports, With: cfg.With, Folder: folder}
	if cfg.Imports == nil {
		q.Wanted = optional // a folder's program may need more than its evaluator
	}
	path, err := find(ctx, cfg.Interpreter, q)
	if err != nil {
		return nil, err
	}
	code, err := sources(serving)
	if err != nil {
		return nil, err
	}
	plan, err := sandbox.NewPlan(cfg.Isolation, mechanisms)
	if err == nil {
		plan, err = plan.Lending(cfg.Devices).Hiding(cfg.Hide)
	}
	if err != nil {
		return nil, fmt.Errorf("python: %w", err)
	}
	imports := cfg.Imports
	if imports == nil {
		imports = optional
	}
	b := cfg.bounds(stages)
	return &kind{
		interpreter: path, env: environ(cfg.Env), code: code, required: cfg.Imports,
		plan: plan, bounds: b, resident: cfg.Memory - b.Memory, // one of them is the limit
		timeout: cfg.Timeout, grace: graceTime, stages: stages,
		patience: cfg.Timeout*time.Duration(stages) + graceTime, log: cfg.Logger,
		orders: orders{Imports: imports, OutputBytes: cfg.OutputBytes, ResultBytes: resultBytes, Folder: folder,
			With: cfg.With, Writable: cfg.Writable},
	}, nil
}

// open starts a pool of kind, checks it against cfg, and logs its containment.
func open(ctx context.Context, cfg Config, k *kind) (*pool, isolation.Report, error) {
	p, h, err := newPool(ctx, k, cfg.Workers)
	if err != nil {
		return nil, nil, err
	}
	report, err := k.check(h, cfg.Isolation)
	if err != nil {
		return nil, nil, errors.Join(err, p.close())
	}
	sandbox.Announce(cfg.Logger, "python", cfg.Isolation, report)
	if h.Unlayered != "" {
		cfg.Logger.Warn("python: /tmp or the evaluator's folder can only be read", "why", printable.Line(h.Unlayered))
	}
	return p, report, nil
}

// Run runs program and returns the return value of its function entry. If program fails, exceeds a limit or returns
// something that is not data, the error is an [*eval.ProgramError] with its output ("stdout", "stderr") and its
// "traceback" as artifacts.
func (r *Runner) Run(ctx context.Context, program, entry string) (json.RawMessage, error) {
	o, err := r.pool.do(ctx, job{taskRun, entry, program})
	if errors.Is(err, errDied) {
		return nil, &eval.ProgramError{Reason: "ended the interpreter that ran it, twice"}
	}
	if err != nil {
		return nil, err
	}
	if bad := o.fault(r.cfg); bad != nil {
		return nil, bad
	}
	if !json.Valid(o.body) {
		return nil, &eval.ProgramError{Reason: "sent a result that is not JSON", Artifacts: o.artifacts()}
	}
	return o.body, nil
}

// Isolation reports which mechanisms of containment are in force.
func (r *Runner) Isolation() isolation.Report { return r.report }

// Close ends all interpreters. Candidates under way fail with [ErrClosed].
func (r *Runner) Close() error { return r.pool.close() }

// String returns a description for people.
func (r *Runner) String() string {
	return fmt.Sprintf("python.Runner(%s, %d at once)", r.pool.kind.interpreter, r.pool.size)
}
