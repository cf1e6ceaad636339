//go:build unix

package command

import (
	"os"
	"syscall"
)

// signal returns the signal that ended a process, 0 if none did.
func signal(state *os.ProcessState) int {
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return int(s.Signal())
	}
	return 0
}
