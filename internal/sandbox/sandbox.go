// Package sandbox contains hostile processes with what Linux gives to a user without root and
// without anything installed: namespaces, Landlock, seccomp, resource limits.
//
// It serves two kinds of start. The python adapter starts an interpreter that confines itself
// before it runs anything that is not ours, by the [Orders] made here: that way everything but one
// small filter is done once and inherited by every fork. Any other program cannot be asked to
// confine itself, so [Command] confines the thread that starts it instead.
package sandbox

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Isolation says what is required of containment.
type Isolation int

// The levels. BestEffort is the zero value.
const (
	// BestEffort uses every mechanism that this machine has and says which.
	BestEffort Isolation = iota
	// Strict uses every mechanism, and refuses to start where one is missing.
	Strict
	// None uses only what every system has: a process group, limits, an environment that holds
	// nothing but what is named.
	None
)

var levels = []string{"besteffort", "strict", "none"}

// String returns the level's name: "besteffort", "strict" or "none".
func (i Isolation) String() string {
	if i < 0 || int(i) >= len(levels) {
		return fmt.Sprintf("Isolation(%d)", int(i))
	}
	return levels[i]
}

// MarshalText returns the level's name.
func (i Isolation) MarshalText() ([]byte, error) { return []byte(i.String()), i.Check() }

// UnmarshalText sets i to the level of that name, so that a flag can hold one (flag.TextVar).
func (i *Isolation) UnmarshalText(text []byte) error {
	n := slices.Index(levels, string(text))
	if n < 0 {
		return fmt.Errorf("sandbox: isolation %q: want one of %s", text, strings.Join(levels, ", "))
	}
	*i = Isolation(n)
	return nil
}

// Check returns an error if i is none of the levels.
func (i Isolation) Check() error {
	if i < 0 || int(i) >= len(levels) {
		return fmt.Errorf("sandbox: isolation %d: want one of %s", int(i), strings.Join(levels, ", "))
	}
	return nil
}

// A Mechanism is one way of containing a process.
type Mechanism string

// The mechanisms; docs/security.md says what each of them stops.
const (
	Group      Mechanism = "process group"
	Limits     Mechanism = "resource limits"
	Processes  Mechanism = "process limit"
	UserNS     Mechanism = "user namespace"
	PIDNS      Mechanism = "pid namespace"
	NetNS      Mechanism = "network namespace"
	IPCNS      Mechanism = "ipc namespace"
	MountNS    Mechanism = "private mounts"
	NoNewPrivs Mechanism = "no new privileges"
	Landlock   Mechanism = "landlock"
	Seccomp    Mechanism = "seccomp"
)

// Mechanisms returns all of them, in the order of reports.
func Mechanisms() []Mechanism {
	return []Mechanism{Group, Limits, Processes, UserNS, PIDNS, NetNS, IPCNS, MountNS, NoNewPrivs, Landlock, Seccomp}
}

// A Status is one mechanism and whether it is in force.
type Status struct {
	Mechanism Mechanism
	Missing   string // why it is not in force; "" if it is
}

// A Report says which mechanisms are in force, and why others are not.
type Report []Status

// NewReport returns the report of missing, which holds the reason for each of ms that is not in
// force.
func NewReport(ms []Mechanism, missing map[Mechanism]string) Report {
	r := make(Report, 0, len(ms))
	for _, m := range ms {
		r = append(r, Status{m, missing[m]})
	}
	return r
}

// InForce returns the mechanisms that are.
func (r Report) InForce() []Mechanism {
	var ms []Mechanism
	for _, s := range r {
		if s.Missing == "" {
			ms = append(ms, s.Mechanism)
		}
	}
	return ms
}

// Has reports whether m is in force.
func (r Report) Has(m Mechanism) bool { return slices.Contains(r.InForce(), m) }

// Missing returns the statuses of the mechanisms that are not in force.
func (r Report) Missing() Report {
	return slices.DeleteFunc(slices.Clone(r), func(s Status) bool { return s.Missing == "" })
}

// String lists the mechanisms in force, and the missing ones with the reason for each.
func (r Report) String() string {
	s := "in force: " + join(r.InForce())
	if missing := r.Reasons(); missing != "" {
		s += "; missing: " + missing
	}
	return s
}

// Err returns an error that names the missing mechanisms, nil if there are none.
func (r Report) Err() error {
	missing := r.Reasons()
	if missing == "" {
		return nil
	}
	return fmt.Errorf("isolation %v needs all mechanisms, and this machine lacks %s", Strict, missing)
}

// Reasons lists the mechanisms that are missing, with the reason for each; "" if there are none.
func (r Report) Reasons() string {
	var parts []string
	for _, s := range r.Missing() {
		parts = append(parts, fmt.Sprintf("%s (%s)", s.Mechanism, s.Missing))
	}
	return strings.Join(parts, ", ")
}

// Announce logs how package of contains candidates at this level, with more of slog's arguments. A line that a user sees
// by default says what is not in force. If everything is, the line is one for debugging.
func (r Report) Announce(log *slog.Logger, of string, level Isolation, more ...any) {
	args := append([]any{"in", of, "isolation", level.String(), "inForce", r.InForce()}, more...)
	switch missing := r.Reasons(); {
	case level == None:
		log.Info("candidates are not contained, as the configuration says", args...)
	case missing != "":
		log.Warn("candidates are not fully contained", append(args, "missing", missing)...)
	default:
		log.Debug("how candidates are contained", args...)
	}
}

func join(ms []Mechanism) string {
	if len(ms) == 0 {
		return "nothing"
	}
	parts := make([]string, len(ms))
	for i, m := range ms {
		parts[i] = string(m)
	}
	return strings.Join(parts, ", ")
}
