//go:build unix

package command

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// resultPair returns the ends of a command's standard output: a pair of sockets. A pipe can be opened again by its name
// in /proc, by any process of the same user that sees its holder, and so by a candidate that was given another output.
// A socket cannot.
func resultPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(pair[0])
		unix.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	// A command that reads from it finds the end, as a pipe's writing end is not readable either.
	err = errors.Join(os.NewSyscallError("shutdown", unix.Shutdown(pair[0], unix.SHUT_WR)),
		os.NewSyscallError("fcntl", unix.SetNonblock(pair[0], true))) // so that it can have a deadline
	ours, theirs = os.NewFile(uintptr(pair[0]), "stdout"), os.NewFile(uintptr(pair[1]), "stdout")
	if err != nil {
		closeAll([]*os.File{ours, theirs})
		return nil, nil, err
	}
	return ours, theirs, nil
}
