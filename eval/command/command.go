package command

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// An Evaluator scores a program with a command that prints JSON on standard output: the score as a number, or an object
// with the score in combined_score or else with numbers whose mean is the score. The metrics are the numbers of the
// object, or of its object metrics if there is one; everything else, and the entries of its object artifacts, are
// artifacts. A nonempty error makes the program invalid, for that reason. If standard output as a whole is not JSON,
// its last line is read, and must be the only line that is JSON: several would be ambiguous, and make the program
// invalid.
//
// A command that exits with a status other than 0 or exceeds a limit makes the program invalid.
//
// If one command both runs and scores the candidate, the candidate can print any score, and any file that the command
// reads in its working directory or at HOME may be the candidate's: a module, a tool's settings. Use Config.Run and
// Config.Score, or a [Runner]. Keep the scorer's files out of Config.Template and Config.Writable, where a candidate
// can write, and let the scorer execute nothing in {run} or {build}.
//
// A command's standard output is a socket, so that a candidate cannot open it by its name in /proc. The command cannot
// either: it must print to its descriptor, not to /dev/stdout.
//
// It is safe for concurrent use, and runs as many commands as there are calls; see [eval.Limit].
type Evaluator struct{ command }

var _ eval.Evaluator = (*Evaluator)(nil)

// NewEvaluator finds the command and the mechanisms of containment, so that missing ones are reported before anything
// is paid for.
func NewEvaluator(cfg Config) (*Evaluator, error) {
	c, err := newCommand(cfg, sandbox.Mechanisms())
	if err != nil {
		return nil, err
	}
	return &Evaluator{c}, nil
}

// Evaluate scores program. The artifacts include the output ("stdout", "stderr").
func (e *Evaluator) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	o, err := e.run(ctx, program, "")
	if err != nil {
		return eval.Result{}, err
	}
	if bad := o.fault(e.cfg); bad != nil {
		return eval.Result{Reason: bad.Reason, Artifacts: bad.Artifacts}.Clean(), nil
	}
	value, err := o.value(e.cfg.ResultBytes)
	if err != nil {
		return eval.Result{Reason: err.Error(), Artifacts: o.artifacts()}.Clean(), nil
	}
	r := read(value)
	for name, text := range o.artifacts() {
		if name != "stdout" { // which was read
			r.Artifacts[name] = text
		}
	}
	return r.Clean(), nil
}

// String returns a description for people.
func (e *Evaluator) String() string { return "command.Evaluator" + e.describe() }

// A Runner runs a program's entry point with a command that prints the return value as JSON on standard output. If
// standard output as a whole is not JSON, its last line is read, and must be the only line that is JSON. Standard
// output is a socket, which cannot be opened by a name such as /dev/stdout.
//
// It is safe for concurrent use, and runs as many commands as there are calls; see [eval.Limit].
type Runner struct{ command }

var _ eval.Runner = (*Runner)(nil)

// NewRunner finds the command and the mechanisms of containment, so that missing ones are reported before anything is
// paid for.
func NewRunner(cfg Config) (*Runner, error) {
	c, err := newCommand(cfg, sandbox.Mechanisms())
	if err != nil {
		return nil, err
	}
	return &Runner{c}, nil
}

// Run runs the command on program. If the command fails, exceeds a limit or prints no JSON, the error is an
// [*eval.ProgramError] with the output ("stdout", "stderr") as artifacts.
func (r *Runner) Run(ctx context.Context, program, entry string) (json.RawMessage, error) {
	o, err := r.run(ctx, program, entry)
	if err != nil {
		return nil, err
	}
	if bad := o.fault(r.cfg); bad != nil {
		return nil, bad
	}
	value, err := o.value(r.cfg.ResultBytes)
	if err != nil {
		return nil, &eval.ProgramError{Reason: err.Error(), Artifacts: o.artifacts()}
	}
	return value, nil
}

// String returns a description for people.
func (r *Runner) String() string { return "command.Runner" + r.describe() }

// A command is what an [Evaluator] and a [Runner] share.
type command struct {
	cfg    Config
	steps  []step
	base   base
	report isolation.Report
}

func newCommand(cfg Config, ms []isolation.Mechanism) (command, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return command{}, err
	}
	plan, err := sandbox.NewCommandPlan(cfg.Isolation, ms)
	if err == nil {
		plan, err = plan.Hiding(cfg.Hide)
	}
	if err != nil {
		return command{}, fmt.Errorf("command: %w", err)
	}
	c := command{cfg: cfg, report: plan.ContainReport()}
	if c.steps, err = cfg.steps(plan); err != nil {
		return command{}, err
	}
	if err := sandbox.Require(cfg.Isolation, c.report); err != nil {
		return command{}, fmt.Errorf("command: %w", err)
	}
	if err := cfg.checkHidden(); err != nil {
		return command{}, err
	}
	sweep()
	var why error
	if c.base, why = newBase(cfg, plan); why != nil {
		cfg.Logger.Warn("candidates do not share their base and caches as layers: each copies the base, and only reads the "+
			"caches",
			"in", "command", "missing", why)
	}
	sandbox.Announce(cfg.Logger, "command", cfg.Isolation, c.report)
	return c, nil
}

// Isolation reports which mechanisms of containment are in force.
func (c *command) Isolation() isolation.Report { return c.report }
