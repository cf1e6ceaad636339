//go:build !linux

// Package oldkernel has a test run as on a Linux kernel without Landlock and without user namespaces.
package oldkernel

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
