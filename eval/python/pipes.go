//go:build unix

package python

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// pipes are our ends of what one candidate writes to: standard output and error, which are pipes because programs
// reopen them by name, and home, a socket that brings the program and returns the result. Each candidate has its own,
// so whatever one changes on them (nonblocking flags, socket options, locks, capacities, descriptors in transit) ends
// with it. Resetting shared ones would need a complete list of such changes.
type pipes struct {
	fds [4]int // by the constants below; -1 means none, or one at its end
}

const (
	fdReply  = iota // the zygote's control
	fdStdout        // the candidate's, from here on
	fdStderr
	fdHome
)

// open makes the pipes and returns the candidate's files, in order: /dev/null as standard input, and its ends. With
// attested, the kernel names the senders at home.
func (p *pipes) open(control int, attested bool) (theirs []int, err error) {
	p.fds = [4]int{control, -1, -1, -1}
	theirs = make([]int, 0, len(p.fds))
	defer func() {
		if err != nil {
			closeAll(theirs)
			p.close()
			theirs = nil
		}
	}()
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("open "+os.DevNull, err)
	}
	theirs = append(theirs, null)
	for i := fdStdout; i <= fdHome; i++ {
		ends, err := newPair(i == fdHome)
		if err != nil {
			return theirs, err
		}
		p.fds[i], theirs = ends[0], append(theirs, ends[1])
		if err := unix.SetNonblock(ends[0], true); err != nil {
			return theirs, os.NewSyscallError("fcntl", err)
		}
	}
	if attested {
		err = attest(p.fds[fdHome])
	}
	return theirs, err
}

// close closes the candidate's pipes.
func (p *pipes) close() {
	for i := fdStdout; i <= fdHome; i++ {
		p.end(i)
	}
}

// end closes one of the candidate's pipes, which is read no more.
func (p *pipes) end(i int) {
	if p.fds[i] >= 0 {
		_ = unix.Close(p.fds[i]) // nothing was written that matters
	}
	p.fds[i] = -1
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd) // nothing was written
	}
}

// newPair returns the ends of a pipe or of a pair of sockets. No process that is started meanwhile inherits them.
func newPair(sockets bool) (ends [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if sockets {
		ends, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	} else {
		err = unix.Pipe(ends[:])
	}
	if err != nil {
		return ends, os.NewSyscallError("pipe", err)
	}
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
	return ends, nil
}
