// Package sandbox contains hostile processes with what Linux offers a user without root and with nothing to install:
// namespaces, Landlock, seccomp, resource limits.
//
// It serves two kinds of start. The python adapter starts an interpreter that confines itself by [Orders] before it
// runs foreign code: everything but one small filter is then done once and inherited by every fork. Other programs
// cannot confine themselves, so [Plan.Contain] confines the thread that starts them.
package sandbox

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// The mechanisms; docs/security.md explains what each of them stops.
const (
	Group      isolation.Mechanism = "process group"
	Limits     isolation.Mechanism = "resource limits"
	Processes  isolation.Mechanism = "process limit"
	UserNS     isolation.Mechanism = "user namespace"
	PIDNS      isolation.Mechanism = "pid namespace"
	NetNS      isolation.Mechanism = "network namespace"
	IPCNS      isolation.Mechanism = "ipc namespace"
	MountNS    isolation.Mechanism = "private mounts"
	NoNewPrivs isolation.Mechanism = "no new privileges"
	Landlock   isolation.Mechanism = "landlock"
	Seccomp    isolation.Mechanism = "seccomp"
)

// Mechanisms returns all of them, in the order of reports.
func Mechanisms() []isolation.Mechanism {
	return []isolation.Mechanism{Group, Limits, Processes, UserNS, PIDNS, NetNS, IPCNS, MountNS, NoNewPrivs, Landlock,
		Seccomp}
}

// newReport returns the report of missing, which holds the reason for each of ms that is not in force.
func newReport(ms []isolation.Mechanism, missing map[isolation.Mechanism]string) isolation.Report {
	r := make(isolation.Report, 0, len(ms))
	for _, m := range ms {
		r = append(r, isolation.Status{Mechanism: m, Missing: missing[m]})
	}
	return r
}

// Require returns an error that names the missing mechanisms if level needs all mechanisms.
func Require(level isolation.Level, r isolation.Report) error {
	if level != isolation.Strict || len(r.Missing()) == 0 {
		return nil
	}
	return fmt.Errorf("isolation %v needs all mechanisms, and this machine lacks %s", level, reasons(r))
}

// Announce logs how package of contains candidates at this level, with more arguments of slog. The line is visible by
// default if a mechanism is missing, and at debug level otherwise.
func Announce(log *slog.Logger, of string, level isolation.Level, r isolation.Report, more ...any) {
	args := append([]any{"in", of, "isolation", level.String(), "inForce", r.InForce()}, more...)
	switch missing := reasons(r); {
	case level == isolation.None:
		log.Info("candidates are not contained, as the configuration says", args...)
	case missing != "":
		log.Warn("candidates are not fully contained", append(args, "missing", missing)...)
	default:
		log.Debug("how candidates are contained", args...)
	}
}

// reasons lists the missing mechanisms, with the reason for each, or returns "".
func reasons(r isolation.Report) string {
	var parts []string
	for _, s := range r.Missing() {
		parts = append(parts, s.String())
	}
	return strings.Join(parts, ", ")
}
