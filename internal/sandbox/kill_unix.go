//go:build unix

package sandbox

import "golang.org/x/sys/unix"

// killGroup kills the process and all of its group. That they are gone already is no error.
func killGroup(pid int) {
	_ = unix.Kill(-pid, unix.SIGKILL)
	_ = unix.Kill(pid, unix.SIGKILL)
}
