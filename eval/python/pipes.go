//go:build unix

package python

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pipes are what a zygote and its candidates write to, our ends: lines of the zygote's own, and of the
// candidates standard output, standard error and what they send home. They are descriptors that
// do not block, waited for together.
type pipes struct {
	fds  [4]int
	left []byte // of what came on the first, after a line
}

const (
	fdReply = iota
	fdStdout
	fdStderr
	fdHome
)

// open makes the pipes and returns their ends.
func (p *pipes) open() (theirs []*os.File, err error) {
	for i := range p.fds {
		p.fds[i] = -1
	}
	defer func() {
		if err != nil {
			closeAll(theirs)
			p.close()
			theirs = nil
		}
	}()
	for i, name := range [...]string{"reply", "stdout", "stderr", "home"} {
		pair, err := newPair(i == fdHome)
		if err != nil {
			return theirs, err
		}
		p.fds[i] = pair[0]
		theirs = append(theirs, os.NewFile(uintptr(pair[1]), name))
		if err := unix.SetNonblock(pair[0], true); err != nil {
			return theirs, os.NewSyscallError("fcntl", err)
		}
	}
	return theirs, attest(p.fds[fdHome])
}

// newPair returns the ends of a pipe, or of a pair of sockets. No process that is started meanwhile
// comes to hold them.
func newPair(sockets bool) (pair [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if sockets {
		pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	} else {
		err = unix.Pipe(pair[:])
	}
	if err != nil {
		return pair, os.NewSyscallError("pipe", err)
	}
	unix.CloseOnExec(pair[0])
	unix.CloseOnExec(pair[1])
	return pair, nil
}

func (p *pipes) close() {
	for i, fd := range p.fds {
		if fd > 0 {
			_ = unix.Close(fd) // nothing was written
		}
		p.fds[i] = -1
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing was written
	}
}

// wait waits until one of the first n pipes has something, and says which have, or until the deadline,
// when none has.
func (p *pipes) wait(deadline time.Time, n int) (ready [4]bool, err error) {
	for {
		var all [4]unix.PollFd
		fds := all[:n]
		for i := range fds {
			fds[i] = unix.PollFd{Fd: int32(p.fds[i]), Events: unix.POLLIN}
		}
		left := max(time.Until(deadline), 0)
		found, err := unix.Poll(fds, int((left+time.Millisecond-1)/time.Millisecond))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return ready, os.NewSyscallError("poll", err)
		}
		for i := range fds {
			ready[i] = found > 0 && fds[i].Revents != 0
		}
		return ready, nil
	}
}

// line returns the next line of the zygote's own.
func (p *pipes) line(deadline time.Time) ([]byte, error) {
	for {
		if line, ok := p.cutLine(); ok {
			return line, nil
		}
		ready, err := p.wait(deadline, fdReply+1)
		if err != nil {
			return nil, err
		}
		if !ready[fdReply] {
			return nil, os.ErrDeadlineExceeded
		}
		if err := p.more(); err != nil {
			return nil, err
		}
	}
}

// more reads what there is of the zygote's own.
func (p *pipes) more() error {
	var buf [4096]byte
	n, err := read(p.fds[fdReply], buf[:])
	if errors.Is(err, unix.EAGAIN) {
		return nil
	}
	if err != nil {
		return err
	}
	if n == 0 {
		return io.ErrUnexpectedEOF
	}
	p.left = append(p.left, buf[:n]...)
	return nil
}

func (p *pipes) cutLine() ([]byte, bool) {
	line, rest, ok := bytes.Cut(p.left, []byte("\n"))
	if ok {
		p.left = rest
	}
	return line, ok
}

func read(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Read(fd, buf)
		if err != unix.EINTR {
			return n, err
		}
	}
}
