//go:build unix

package python

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// A watch follows one candidate from its start to its end, keeps the time, and takes what it sends
// and prints.
type watch struct {
	z        *zygote
	nonce    []byte
	deadline time.Time
	out, err sandbox.Capture
	home     home
	how      manner
	reply    []byte
	buf      []byte
}

func newWatch(z *zygote) (*watch, error) {
	w := &watch{z: z, nonce: make([]byte, nonceSize), deadline: time.Now().Add(z.kind.timeout), buf: z.buf[:]}
	w.out.Keep, w.err.Keep = z.orders.OutputBytes/2, z.orders.OutputBytes/2
	w.home = home{nonce: w.nonce, attested: len(z.orders.Alone) == 0}
	_, err := rand.Read(w.nonce)
	return w, err
}

// brief is how long a candidate that is soon done may take: until then only its end is waited for, and
// what it sent and printed is read afterwards.
const brief = 3 * time.Millisecond

// run waits until the candidate and all of its descendants are gone. An error means that the zygote
// is, or does not end them.
func (w *watch) run() error {
	ready, err := w.z.pipes.wait(time.Now().Add(min(brief, w.z.kind.timeout)), fdReply+1)
	if err == nil {
		err = w.take(ready)
	}
	for err == nil && w.reply == nil {
		ready, err = w.z.pipes.wait(w.deadline, len(w.z.pipes.fds))
		if err != nil {
			return err
		}
		if ready == [4]bool{} {
			if err := w.late(); err != nil {
				return err
			}
		}
		err = w.take(ready)
	}
	if err != nil {
		return err
	}
	for _, i := range []int{fdStdout, fdStderr, fdHome} {
		if err := w.drain(i); err != nil {
			return err
		}
	}
	return nil
}

// late has the candidate ended, as its time is up. A zygote that does not do so in time is given up.
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
	if err := w.z.in.SetWriteDeadline(w.deadline); err != nil {
		return err
	}
	return writeFrame(w.z.in, nil)
}

// take reads once from each of the pipes that are ready.
func (w *watch) take(ready [4]bool) error {
	if ready[fdReply] {
		if err := w.z.pipes.more(); err != nil {
			return err
		}
		if line, ok := w.z.pipes.cutLine(); ok {
			w.reply = line
		}
	}
	for i := fdStdout; i <= fdHome; i++ {
		if !ready[i] {
			continue
		}
		if _, err := w.read(i); err != nil {
			return err
		}
	}
	return nil
}

// drain reads what is left in a pipe that nobody writes to any more.
func (w *watch) drain(i int) error {
	for {
		more, err := w.read(i)
		if err != nil || !more {
			return err
		}
	}
}

// read reads once from a pipe and says whether something was there.
func (w *watch) read(i int) (bool, error) {
	var n int
	var pid int32
	var err error
	if i == fdHome {
		n, pid, err = receive(w.z.pipes.fds[i], w.buf)
	} else {
		n, err = read(w.z.pipes.fds[i], w.buf)
	}
	switch {
	case errors.Is(err, unix.EAGAIN):
		return false, nil
	case err != nil:
		return false, err
	case n == 0:
		return false, io.ErrUnexpectedEOF // the zygote holds the other end
	}
	return true, w.sort(i, w.buf[:n], pid)
}

// sort puts what came from pipe i where it belongs, and ends the candidate if it is too much.
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

// outcome says how the candidate ended, once it has.
func (w *watch) outcome() (outcome, error) {
	var status unix.WaitStatus
	var micros int64
	var clean string
	if _, err := fmt.Sscanf(string(w.reply), "%d %d %s", &status, &micros, &clean); err != nil {
		return outcome{}, fmt.Errorf("python: an interpreter says that it %s", w.reply)
	}
	o := outcome{how: w.how, stage: w.home.stages, exit: status.ExitStatus(), cpu: time.Duration(micros) * time.Microsecond,
		clean: clean == "1", stdout: w.out.String(), stderr: w.err.String(), scratch: w.z.scratch}
	if status.Signaled() {
		o.signal = int(status.Signal())
	}
	if o.how == "" {
		o.how, o.body = w.home.message()
	}
	return o, nil
}
