//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// CloseInherited keeps cmd from inheriting the descriptors that this process itself inherited. Go closes those that it
// opened, but a shell or a service manager may have left others open; from now on no command gets them.
func CloseInherited(*exec.Cmd) error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fmt.Errorf("sandbox: listing open descriptors: %w", err)
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC) // it fails on one that is closed by now
		}
	}
	return nil
}
