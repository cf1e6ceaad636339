//go:build unix

package python

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A control is our end of the socket through which a zygote gets its orders and answers in lines. Only the zygote has
// the other end, but its answers are trusted no more than a candidate's: the length of a line and the time until it
// arrives are bounded. One goroutine at a time uses a control, except for hangUp.
type control struct {
	file     *os.File // keeps the descriptor open while hangUp uses it
	fd       int
	left     []byte // bytes after the last line
	searched int    // bytes of left already searched for a line's end
}

// maxLine bounds the length of a zygote's line. The longest is its greeting, with a reason for each missing mechanism
// and module.
const maxLine = 64 << 10

// open makes the socket and returns the zygote's end.
func (c *control) open() (theirs *os.File, err error) {
	pair, err := newPair(true)
	if err != nil {
		return nil, err
	}
	c.file, c.fd = os.NewFile(uintptr(pair[0]), "control"), pair[0]
	theirs = os.NewFile(uintptr(pair[1]), "control")
	if err := unix.SetNonblock(c.fd, true); err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl", err), c.close(), theirs.Close())
	}
	return theirs, nil
}

func (c *control) close() error { return c.file.Close() }

// hangUp ends our side of the socket, so that the zygote ends too. Any goroutine may call it.
func (c *control) hangUp() {
	raw, err := c.file.SyscallConn()
	if err != nil {
		return // the socket is closed
	}
	// on failure, the zygote is gone already
	_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) })
}

// order sends the number of a candidate and the files that the candidate gets, or the number 0, which ends the
// candidate.
func (c *control) order(n uint32, own []int) error {
	var rights []byte
	if len(own) > 0 {
		rights = unix.UnixRights(own...)
	}
	_, err := unix.SendmsgN(c.fd, binary.BigEndian.AppendUint32(nil, n), rights, nil, 0)
	return os.NewSyscallError("sendmsg", err)
}

// line waits for the next line.
func (c *control) line(deadline time.Time) ([]byte, error) {
	for {
		line, err := c.cut()
		if line != nil || err != nil {
			return line, err
		}
		if !time.Now().Before(deadline) {
			return nil, os.ErrDeadlineExceeded
		}
		fds := []unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLIN}}
		if err := poll(fds, deadline); err != nil {
			return nil, err
		}
		if err := c.more(); err != nil {
			return nil, err
		}
	}
}

// more reads the bytes that have arrived.
func (c *control) more() error {
	var buf [4096]byte
	n, err := unix.Read(c.fd, buf[:])
	if errors.Is(err, unix.EAGAIN) {
		return nil
	}
	if err != nil {
		return err
	}
	if n == 0 {
		return io.ErrUnexpectedEOF
	}
	c.left = append(c.left, buf[:n]...)
	return nil
}

// cut removes and returns the first complete line, or nil. Each byte is searched once.
func (c *control) cut() ([]byte, error) {
	end := bytes.IndexByte(c.left[c.searched:], '\n')
	if end < 0 {
		if c.searched = len(c.left); c.searched > maxLine {
			return nil, fmt.Errorf("%w: it sent %d bytes without a line's end", errDied, c.searched)
		}
		return nil, nil
	}
	line := c.left[: c.searched+end : c.searched+end]
	c.left, c.searched = c.left[c.searched+end+1:], 0
	return line, nil
}

// send writes all of data to a socket that does not block.
func send(fd int, data []byte, deadline time.Time) error {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if n > 0 {
			data = data[n:]
		}
		switch {
		case err == unix.EAGAIN:
			if !time.Now().Before(deadline) {
				return os.ErrDeadlineExceeded
			}
			if err := poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, deadline); err != nil {
				return err
			}
		case err != nil && err != unix.EINTR:
			return os.NewSyscallError("write", err)
		}
	}
	return nil
}

// poll waits until one of fds is ready, or until the deadline.
func poll(fds []unix.PollFd, deadline time.Time) error {
	for {
		left := max(time.Until(deadline), 0)
		_, err := unix.Poll(fds, int((left+time.Millisecond-1)/time.Millisecond))
		if err != unix.EINTR {
			return os.NewSyscallError("poll", err)
		}
	}
}
