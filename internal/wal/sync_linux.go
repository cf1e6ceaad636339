package wal

import (
	"errors"
	"os"
	"syscall"
)

// datasync puts f's content and length on disk. It leaves out the times of change, which nobody reads and
// which would cost another write.
func datasync(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
