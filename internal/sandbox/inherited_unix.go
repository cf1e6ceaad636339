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
// opened, but a shell or a service manager may have left others open.
func CloseInherited(cmd *exec.Cmd) error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fmt.Errorf("sandbox: listing open descriptors: %w", err)
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue // closed meanwhile, or close-on-exec
		}
		for len(cmd.ExtraFiles) <= fd-3 {
			cmd.ExtraFiles = append(cmd.ExtraFiles, nil) // a nil file is closed in the child
		}
	}
	return nil
}
