package wal

import (
	"os"
	"syscall"
)

// lockTries is how often the lock is tried. Nothing takes it for an instant only.
const lockTries = 1

// Commands of fcntl for locks of an open file description. They have these numbers on every Linux, and package
// syscall does not name them.
const (
	ofdGetLock = 36
	ofdSetLock = 37
)

// mark puts a lock of the second kind on a file that is locked. Unlike the first, whose only question is to try and
// take it, it can be asked for without being taken (F_OFD_GETLK), so that a reader never stands in the way of a process
// that opens the log. The system gives it back when the file is closed, as it does the first.
//
// Where a file system has no such locks, the log is not marked, and [InUse] fails there.
func mark(f *os.File) {
	_ = syscall.FcntlFlock(f.Fd(), ofdSetLock, &syscall.Flock_t{Type: syscall.F_WRLCK})
}

// held reports whether the file is marked.
func held(f *os.File, _ string) (bool, error) {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err := syscall.FcntlFlock(f.Fd(), ofdGetLock, &lock); err != nil {
		return false, os.NewSyscallError("fcntl", err)
	}
	return lock.Type != syscall.F_UNLCK, nil
}
