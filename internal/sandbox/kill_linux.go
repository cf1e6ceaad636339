package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit returns when the process has ended, and leaves it to be waited for: until then nobody
// else can have its id. It reports whether it could.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

func onMainThread() bool { return unix.Gettid() == os.Getpid() }
