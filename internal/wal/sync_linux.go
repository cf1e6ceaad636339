package wal

import (
	"errors"
	"os"
	"syscall"
)

// datasync puts f's content and length on disk. Times of change, which it leaves out, nobody reads.
func datasync(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
