package isolation

import (
	"fmt"
	"slices"
	"strings"
)

// A Mechanism is a way to contain a process: "process group", "resource limits", "process limit", "user namespace",
// "pid namespace", "network namespace", "ipc namespace", "private mounts", "no new privileges", "landlock" or
// "seccomp".
type Mechanism string

// A Status is one mechanism and whether it is in force.
type Status struct {
	Mechanism Mechanism
	Missing   string // why it is not in force; "" if in force
}

// String returns the mechanism, with the reason if it is missing.
func (s Status) String() string {
	if s.Missing == "" {
		return string(s.Mechanism)
	}
	return fmt.Sprintf("%s (%s)", s.Mechanism, s.Missing)
}

// A Report holds the status of each requested mechanism.
type Report []Status

// InForce returns the mechanisms that are in force.
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
	inForce := slices.DeleteFunc(slices.Clone(r), func(s Status) bool { return s.Missing != "" })
	s := "in force: " + inForce.list()
	if missing := r.Missing(); len(missing) > 0 {
		s += "; missing: " + missing.list()
	}
	return s
}

func (r Report) list() string {
	if len(r) == 0 {
		return "nothing"
	}
	parts := make([]string, len(r))
	for i, s := range r {
		parts[i] = s.String()
	}
	return strings.Join(parts, ", ")
}
