//go:build unix

package command

import (
	"os"
	"syscall"
)

// signal returns the signal that killed a process, or 0.
func signal(state *os.ProcessState) int {
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return int(s.Signal())
	}
	return 0
}
