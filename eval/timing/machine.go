package timing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// MachineConfig says how a machine is used.
type MachineConfig struct {
	// Hide names files and folders that candidates must not read: credentials. They must be there. It is an error at
	// start if neither private mounts nor Landlock can hide them. None hides nothing.
	Hide []string
	// Isolation is how much containment is asked for. BestEffort and Strict need seccomp, without which candidates could
	// leave work to processes that are not timed. At None candidates can start such processes.
	Isolation isolation.Level
	// Logger gets a line at start with the mechanisms that are in force, above the level of debugging only if some are not;
	// nil means [slog.Default].
	Logger *slog.Logger
}

// A Machine times one candidate at a time, whichever of its evaluators is asked, on one processor or on as many as
// Config.Cores says. Make one in a process: those of two Machines disturb each other. It is safe for concurrent use.
type Machine struct {
	plan   *sandbox.Plan
	report isolation.Report
	cpus   []int // that both sides may be kept to; the first ones are taken
	limit  interface {
		Around(eval.Evaluator) eval.Evaluator
	}
}

// NewMachine finds the mechanisms of containment, so that what is missing is known before anything is paid for.
func NewMachine(cfg MachineConfig) (*Machine, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("timing: not on %s: stopping a process and reading its clock need Linux", runtime.GOOS)
	}
	if err := cfg.Isolation.Check(); err != nil {
		return nil, fmt.Errorf("timing: MachineConfig.Isolation: %w", err)
	}
	plan, err := sandbox.NewCommandPlan(cfg.Isolation, sandbox.Mechanisms())
	if err == nil {
		plan, err = plan.Hiding(cfg.Hide)
	}
	if err != nil {
		return nil, fmt.Errorf("timing: %w", err)
	}
	m := &Machine{plan: plan, report: plan.ContainReport(), cpus: allowedCPUs()}
	if err := sandbox.Require(cfg.Isolation, m.report); err != nil {
		return nil, fmt.Errorf("timing: %w", err)
	}
	if cfg.Isolation != isolation.None && plan.Timed() == nil {
		return nil, fmt.Errorf("timing: needs seccomp, or work done by other processes would not be timed: %s", m.report)
	}
	sandbox.Announce(cmp.Or(cfg.Logger, slog.Default()), "timing", cfg.Isolation, m.report, "cpus", m.cpus)
	refuse := eval.Func(func(context.Context, string) (eval.Result, error) {
		return eval.Result{}, errors.New("timing: nothing to time")
	})
	m.limit = eval.Limit(refuse, 1).(interface {
		Around(eval.Evaluator) eval.Evaluator
	})
	return m, nil
}

// Isolation says which mechanisms of containment are in force.
func (m *Machine) Isolation() isolation.Report { return m.report }

// Evaluator returns what scores programs by their speed: the median, over pairs of calls with the same input, of the
// baseline's time divided by the candidate's. It builds the baseline and calls it once, so that what is missing is
// known before anything is paid for.
//
// The metrics of a result are "speedup", which is the score; "seconds" and "baseline_seconds", the medians of both
// times; "sd" of the ratios; "elapsed_speedup", the median ratio of the times that passed; "pairs"; and with the clock
// Elapsed "strangers", the share of the processors' time that other processes used during the pairs that count, from 0
// to 1. The result of a second evaluation differs, as times do.
//
// All evaluators of a Machine are behind one [eval.Limit] of 1.
func (m *Machine) Evaluator(ctx context.Context, cfg Config) (eval.Evaluator, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	if err := m.room(cfg); err != nil {
		return nil, err
	}
	e := &evaluator{machine: m, cfg: cfg}
	trial := eval.Func(func(ctx context.Context, _ string) (eval.Result, error) { return eval.Result{}, e.try(ctx) })
	if _, err := m.limit.Around(trial).Evaluate(ctx, cfg.Baseline); err != nil {
		return nil, err
	}
	return m.limit.Around(e), nil
}

// room returns an error if the processors that cfg asks for are not there.
func (m *Machine) room(cfg Config) error {
	switch n := len(m.cpus); {
	case cfg.Clock == Elapsed && n == 0:
		return errors.New("timing: Config.Clock is Elapsed: this system does not say which processors a process may use, so both " +
			"sides cannot be kept to the same ones; use CPU")
	case cfg.Cores > max(n, 1):
		return fmt.Errorf("timing: Config.Cores is %d: this process may use %d processors", cfg.Cores, n)
	}
	return nil
}
