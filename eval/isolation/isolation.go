// Package isolation defines the required containment of candidates, a [Level], and the actual containment, a [Report].
// The adapters that start processes share it: eval/python, eval/command and eval/timing. docs/security.md explains what
// each mechanism stops.
package isolation

import (
	"fmt"
	"slices"
	"strings"
)

// A Level is the required containment.
type Level int

// The levels. BestEffort is the zero value.
const (
	// BestEffort uses every mechanism that this machine has, and logs which. It is an error at start if candidates could
	// read the memory and environment of this process.
	//
	// On Linux without user namespaces, BestEffort and Strict permanently make this process not dumpable, unless it is
	// root, so that candidates of the same user cannot read it; eval/python does not need that where there is Landlock. A
	// process that is not dumpable leaves no core dumps, and debuggers, profilers that attach and readers of its environ,
	// fd and maps in /proc (lsof) need root; net/http/pprof and runtime/pprof still work.
	BestEffort Level = iota
	// Strict uses every mechanism, and is an error at start if one is missing.
	Strict
	// None uses only what every system has: a process group, limits, and an environment of only the named variables.
	// Candidates can do everything that this process's user can, and read this process's keys.
	None
)

var levels = []string{"besteffort", "strict", "none"}

// String returns the level's name: "besteffort", "strict" or "none".
func (l Level) String() string {
	if l < 0 || int(l) >= len(levels) {
		return fmt.Sprintf("Level(%d)", int(l))
	}
	return levels[l]
}

// MarshalText returns the level's name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), l.Check() }

// UnmarshalText sets l to the level of that name, so that a flag can hold one (flag.TextVar).
func (l *Level) UnmarshalText(text []byte) error {
	n := slices.Index(levels, string(text))
	if n < 0 {
		return fmt.Errorf("isolation: level %q: want one of %s", text, strings.Join(levels, ", "))
	}
	*l = Level(n)
	return nil
}

// Check returns an error if l is none of the levels.
func (l Level) Check() error {
	if l < 0 || int(l) >= len(levels) {
		return fmt.Errorf("isolation: level %d: want one of %s", int(l), strings.Join(levels, ", "))
	}
	return nil
}
