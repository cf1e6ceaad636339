package timing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/claim"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// MachineConfig configures a [Machine].
type MachineConfig struct {
	// Hide names existing files and folders that candidates must not read, such as credentials. It is an error at start if
	// neither private mounts nor Landlock can hide them. None hides nothing.
	Hide []string
	// Isolation is the required level of containment. BestEffort and Strict need seccomp, without which candidates could
	// leave work to processes that are not timed. Under None candidates can start such processes.
	Isolation isolation.Level
	// Logger gets a line at start with the mechanisms in force, at debug level unless some are missing; nil means
	// [slog.Default].
	Logger *slog.Logger
}

// A Machine times one candidate at a time for all of its evaluators, on Config.Cores processors. Make only one per
// process, since two Machines disturb each other. A Machine is safe for concurrent use.
type Machine struct {
	plan   *sandbox.Plan
	report isolation.Report
	cpus   []int // available for both sides, the preferred ones first
	limit  interface {
		Around(eval.Evaluator) eval.Evaluator
	}
}

// NewMachine finds the mechanisms of containment, so that missing ones are reported before anything is paid for.
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
	sweep()
	sandbox.Announce(cmp.Or(cfg.Logger, slog.Default()), "timing", cfg.Isolation, m.report, "cpus", m.cpus)
	refuse := eval.Func(func(context.Context, string) (eval.Result, error) {
		return eval.Result{}, errors.New("timing: nothing to time")
	})
	m.limit = eval.Limit(refuse, 1).(interface {
		Around(eval.Evaluator) eval.Evaluator
	})
	return m, nil
}

// Isolation reports which mechanisms of containment are in force.
func (m *Machine) Isolation() isolation.Report { return m.report }

// Evaluator returns an evaluator that scores programs by their speed: the median, over pairs of calls with the same
// input, of the baseline's time divided by the candidate's. Evaluator builds the baseline and calls it once, so that
// failures are known before anything is paid for.
//
// The metrics of a result are "speedup", which is the score; "seconds" and "baseline_seconds", the medians of both
// times; "sd" of the ratios; "elapsed_speedup", the median ratio of wall times; "pairs"; and with the clock Elapsed
// "strangers", the share of the processors' time that other processes used during the pairs that count, from 0 to 1.
// Results differ between evaluations, as times do.
//
// All evaluators of a Machine are under one [eval.Limit] of 1.
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

// room returns an error if there are too few processors for cfg.
func (m *Machine) room(cfg Config) error {
	switch n := len(m.cpus); {
	case cfg.Clock == Elapsed && n == 0:
		return errors.New("timing: Config.Clock is Elapsed: this system does not say which processors a process may use, " +
			"so both sides cannot be kept to the same ones; use CPU")
	case cfg.Cores > max(n, 1):
		return fmt.Errorf("timing: Config.Cores is %d: this process may use %d processors", cfg.Cores, n)
	}
	return nil
}

// scratchName begins the names of the temporary folders of sides; a number follows. Earlier versions did not claim theirs,
// so it is none of their names.
const scratchName = "evoalloc-timing-side-"

// sweep removes the temporary folders of killed processes.
func sweep() { claim.Sweep(os.TempDir(), scratchName, sandbox.Remove) }
