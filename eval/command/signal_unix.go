//go:build unix

package command

import (
	"os"
	"syscall"
)

// hardLinks returns the number of a file's names.
func hardLinks(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// signal returns the signal that killed a process, or 0.
func signal(state *os.ProcessState) int {
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return int(s.Signal())
	}
	return 0
}
