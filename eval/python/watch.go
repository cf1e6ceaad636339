//go:build unix

package python

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// A watch follows one candidate from its start to its end, keeps the time, and receives the candidate's messages and
// output.
type watch struct {
	z        *zygote
	n        uint32 // the candidate's number
	pipes    pipes
	nonce    []byte
	deadline time.Time
	out, err sandbox.Capture
	home     home
	how      manner
	reply    []byte
	buf      []byte
}

func newWatch(z *zygote) (*watch, error) {
	z.candidates++
	w := &watch{z: z, n: z.candidates, nonce: make([]byte, nonceSize), deadline: time.Now().Add(z.kind.timeout),
		buf: z.buf[:]}
	w.out.Keep, w.err.Keep = z.orders.OutputBytes/2, z.orders.OutputBytes/2
	w.home = home{nonce: w.nonce, attested: len(z.orders.Alone) == 0}
	_, err := rand.Read(w.nonce)
	return w, err
}

// brief is the time within which most candidates end. Until then the watch waits for the end alone, and reads messages
// and output afterwards.
const brief = 3 * time.Millisecond

// start makes the zygote fork the candidate, and gives the candidate its job. The zygote itself never holds the job:
// all later candidates are forks of the zygote, and could find in their own memory what it had read.
func (w *watch) start(j job) error {
	theirs, err := w.pipes.open(w.z.control.fd, w.home.attested)
	if err != nil {
		return fmt.Errorf("python: %w: %w", errFork, err)
	}
	// Most jobs fit into the socket and need no waiting if written at once.
	data := j.frame(w.nonce)
	if n, err := unix.Write(w.pipes.fds[fdHome], data); err == nil {
		data = data[n:]
	}
	err = w.z.control.order(w.n, theirs)
	closeAll(theirs)
	if err != nil {
		return err
	}
	err = send(w.pipes.fds[fdHome], data, w.deadline)
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, os.ErrDeadlineExceeded) {
		// There may be no candidate, and the zygote reports that. Or the time may be up, and run notices that.
		return nil
	}
	return err
}

// run waits until the candidate and all of its descendants are gone. An error means that the zygote is gone, or does
// not end them.
func (w *watch) run() error {
	err := w.turn(time.Now().Add(min(brief, w.z.kind.timeout)), fdReply+1)
	for err == nil && w.reply == nil {
		if !time.Now().Before(w.deadline) { // even if there is something to read
			if err := w.late(); err != nil {
				return err
			}
		}
		if err = w.weigh(); err != nil {
			return err
		}
		until := w.deadline
		if soon := time.Now().Add(weighEvery); w.z.kind.resident > 0 && soon.Before(until) {
			until = soon
		}
		err = w.turn(until, len(w.pipes.fds))
	}
	if err != nil {
		return err
	}
	for i := fdStdout; i <= fdHome; i++ {
		if err := w.drain(i); err != nil {
			return err
		}
	}
	return nil
}

// weighEvery is how often the memory of a candidate without a limit on address space is looked at.
const weighEvery = 100 * time.Millisecond

// weigh ends a candidate whose processes hold more memory than they may.
func (w *watch) weigh() error {
	if limit := w.z.kind.resident; limit > 0 && sandbox.Resident(w.z.process) > limit {
		return w.end(tooHeavy)
	}
	return nil
}

// turn waits until one of the first n pipes is readable, and reads once from each readable one.
func (w *watch) turn(until time.Time, n int) error {
	var all [4]unix.PollFd
	fds := all[:n]
	for i := range fds {
		fds[i] = unix.PollFd{Fd: int32(w.pipes.fds[i]), Events: unix.POLLIN}
	}
	if err := poll(fds, until); err != nil {
		return err
	}
	for i := range fds {
		if fds[i].Revents == 0 {
			continue
		}
		if err := w.take(i); err != nil {
			return err
		}
	}
	return nil
}

// take reads once from pipe i.
func (w *watch) take(i int) (err error) {
	if i != fdReply {
		_, err = w.read(i)
		return err
	}
	if err := w.z.control.more(); err != nil {
		return err
	}
	w.reply, err = w.z.control.cut()
	return err
}

// late makes the zygote end the candidate, whose time is up. A zygote that does not do so within its grace counts as
// dead.
func (w *watch) late() error {
	if w.how != "" {
		return os.ErrDeadlineExceeded
	}
	return w.end(tooLong)
}

// end tells the zygote to end the candidate, once.
func (w *watch) end(how manner) error {
	if w.how != "" {
		return nil
	}
	w.how, w.deadline = how, time.Now().Add(w.z.kind.grace)
	return w.z.control.order(0, nil)
}

// drain reads the rest of a pipe that has no writers left. It stops if there is one after all.
func (w *watch) drain(i int) error {
	for deadline := time.Now().Add(w.z.kind.grace); ; {
		more, err := w.read(i)
		if err != nil || !more {
			return err
		}
		if !time.Now().Before(deadline) {
			return os.ErrDeadlineExceeded
		}
	}
}

// read reads once from one of the candidate's pipes and reports whether there were bytes.
func (w *watch) read(i int) (bool, error) {
	if w.pipes.fds[i] < 0 {
		return false, nil
	}
	var n int
	var pid int32
	var err error
	if i == fdHome {
		n, pid, err = receive(w.pipes.fds[i], w.buf, w.home.attested)
	} else {
		n, err = unix.Read(w.pipes.fds[i], w.buf)
	}
	switch {
	case errors.Is(err, unix.EAGAIN):
		return false, nil
	case err == nil && n > 0:
		return true, w.sort(i, w.buf[:n], pid)
	case err != nil && !errors.Is(err, unix.ECONNRESET): // ECONNRESET ends a socket whose peer has not read everything
		return false, err
	}
	w.pipes.end(i)
	return false, nil
}

// sort puts the data from pipe i where it belongs, and ends the candidate if there is too much.
func (w *watch) sort(i int, data []byte, pid int32) error {
	switch i {
	case fdStdout, fdStderr:
		c := &w.out
		if i == fdStderr {
			c = &w.err
		}
		if c.Take(data); c.Size() > floodBytes {
			return w.end(flooded)
		}
	case fdHome:
		stages := w.home.stages
		w.home.take(data, pid)
		if w.home.stages > stages && w.home.stages < w.z.kind.stages && w.how == "" {
			w.deadline = time.Now().Add(w.z.kind.timeout)
		}
		if len(w.home.data) > w.z.orders.ResultBytes+4096 {
			return w.end(tooLarge)
		}
	}
	return nil
}

// execution returns how the candidate ended. Call it after the end.
func (w *watch) execution() (execution, error) {
	r, err := parseReply(string(w.reply), w.n)
	if err == nil && len(w.z.control.left) > 0 {
		err = fmt.Errorf("%w: it sent %q after its answer", errDied, short(string(w.z.control.left)))
	}
	if err != nil {
		return execution{}, err
	}
	status := unix.WaitStatus(r.status)
	o := execution{how: w.how, stage: w.home.stages, exit: status.ExitStatus(), cpu: r.cpu,
		clean: r.clean, stdout: w.out.String(), stderr: w.err.String(), scratch: w.z.scratch}
	if status.Signaled() {
		o.signal = int(status.Signal())
	}
	if o.how == "" {
		o.how, o.body = w.home.message()
	}
	return o, nil
}

// nonceSize is the length of the random word that begins every message from a candidate's process. Without the word,
// bytes that a candidate writes to all its descriptors could pass for a message.
const nonceSize = 16

// A home receives the messages of a candidate's process. If the candidate may have other processes, the kernel names
// the sender of the first message, which is sent before any code of the candidate runs. Only that process is believed.
// Messages of others are dropped, even if they know the nonce.
type home struct {
	nonce    []byte
	attested bool
	pid      int32
	data     []byte // not yet parsed
	stages   int    // stages announced as done
}

func (h *home) take(data []byte, pid int32) {
	if h.pid == 0 {
		h.pid = pid
	}
	if h.attested && pid != h.pid {
		return
	}
	h.data = append(h.data, data...)
	for {
		kind, rest := h.kind()
		switch kind {
		case 'S':
			h.stages++
		case 'H':
		default:
			return
		}
		h.data = rest
	}
}

// kind returns the first message's kind and what follows it, or 0 if there is no message.
func (h *home) kind() (byte, []byte) {
	rest, ok := bytes.CutPrefix(h.data, h.nonce)
	if !ok || len(rest) == 0 {
		return 0, nil
	}
	return rest[0], rest[1:]
}

// message returns the last message of a process that ended by itself.
func (h *home) message() (manner, []byte) {
	switch kind, body := h.kind(); kind {
	case 'R':
		return returned, body
	case 'F':
		return failed, body
	}
	return ended, nil
}
