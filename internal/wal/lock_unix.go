//go:build unix && !solaris && !aix

package wal

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// noLocks is what a network file system without a server of locks says.
const noLocks = syscall.ENOLCK

// lock takes the file for this process. The system gives it back when the process ends, however it
// ends.
func lock(f *os.File, _ string) (unlock func() error, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	for tries := 1; tries < lockTries && errors.Is(err, syscall.EWOULDBLOCK); tries++ {
		time.Sleep(10 * time.Millisecond)
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrLocked
	}
	if err == nil {
		mark(f)
	}
	return func() error { return nil }, os.NewSyscallError("flock", err)
}

// syncDir makes names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
