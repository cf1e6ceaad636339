//go:build !linux

// Package sandboxtest has what tests of containment share, which is only found on Linux.
package sandboxtest

import "testing"

// A Loss is something that the emulated kernel lacks.
type Loss string

// The losses.
const (
	Landlock Loss = "landlock"
	UserNS   Loss = "userns"
	Dumpable Loss = "dumpable"
)

// A Caller is who the test is run as.
type Caller string

// The callers.
const (
	Self     Caller = "whoever runs the tests"
	Ordinary Caller = "an ordinary user"
)

// Rerun skips the test: other systems have nothing of the kind to lose.
func Rerun(t *testing.T, as Caller, env []string, losses ...Loss) {
	t.Helper()
	t.Skip("only on Linux")
}

// Inside reports whether this process was started by Rerun, which none is.
func Inside(t *testing.T) bool { return false }
