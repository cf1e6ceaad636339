//go:build unix && !linux && !solaris && !aix

package wal

import (
	"errors"
	"os"
	"syscall"
)

// lockTries is how often the lock is tried, 10 ms apart: held takes a shared one for an instant.
const lockTries = 10

func mark(*os.File) {}

// held reports whether the lock cannot be shared. It takes it for an instant, for which a process that opens the log
// waits.
func held(f *os.File, _ string) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, os.NewSyscallError("flock", err) // closing f gives it back
}
