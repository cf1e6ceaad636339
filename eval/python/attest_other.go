//go:build unix && !linux

package python

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// newPipe returns the ends of a pipe, newSockets those of a pair of sockets. No process that is started meanwhile
// inherits them.
func newPipe() (ends [2]int, err error) {
	return guarded(func() (ends [2]int, err error) {
		err = unix.Pipe(ends[:])
		return ends, err
	})
}

func newSockets() (ends [2]int, err error) {
	return guarded(func() ([2]int, error) { return unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0) })
}

func guarded(pair func() ([2]int, error)) (ends [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if ends, err = pair(); err != nil {
		return ends, os.NewSyscallError("pipe", err)
	}
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
	return ends, nil
}

func attest(int) error { return nil }

// receive reads from the socket fd; this system does not name the sender.
func receive(fd int, buf []byte) (n int, pid int32, err error) {
	n, err = read(fd, buf)
	return n, 0, err
}
