package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit returns when the process has ended, without reaping it, so that its id stays taken. It reports whether that
// worked.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

func onMainThread() bool { return unix.Gettid() == os.Getpid() }
