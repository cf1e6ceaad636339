package notrun

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// standardError opens the standard error of another process: the very descriptor where the kernel
// permits it, as a file that is opened anew has a place of its own where it is written to, and else at
// the end of the file.
func standardError(pid int) (*os.File, error) {
	const stderr = 2
	if process, err := unix.PidfdOpen(pid, 0); err == nil {
		defer unix.Close(process)
		if fd, err := unix.PidfdGetfd(process, stderr, 0); err == nil {
			return os.NewFile(uintptr(fd), "stderr"), nil
		}
	}
	return os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", pid, stderr), os.O_WRONLY|os.O_APPEND, 0)
}
