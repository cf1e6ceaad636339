//go:build unix

package sandbox

import "golang.org/x/sys/unix"

// killGroup kills the process and its group. It ignores the error that they are gone already.
func killGroup(pid int) {
	killRest(pid)
	_ = unix.Kill(pid, unix.SIGKILL)
}

// killRest kills a group, whose leader may be gone.
func killRest(group int) { _ = unix.Kill(-group, unix.SIGKILL) }
