package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit returns when the process has ended, and leaves it to be waited for: until then nobody
// else can have its id.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

func onMainThread() bool { return unix.Gettid() == os.Getpid() }
