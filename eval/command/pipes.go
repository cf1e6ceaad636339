package command

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// pipes are a command's standard input, output and error, and our ends of the latter two. Only the output that carries
// a result is a socket: scripts write to /dev/stderr, which they must be able to open by its name.
type pipes struct{ theirs, ours []*os.File }

func openPipes(input *os.File) (p pipes, err error) {
	p.theirs = append(p.theirs, input)
	for _, open := range []func() (ours, theirs *os.File, err error){resultPair, os.Pipe} {
		r, w, err := open()
		if err != nil {
			closeAll(p.theirs)
			closeAll(p.ours)
			return p, fmt.Errorf("command: opening an output: %w", err)
		}
		p.theirs, p.ours = append(p.theirs, w), append(p.ours, r)
	}
	return p, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing was written here
	}
}

// read reads both outputs into o until no process has them open, and stops the command if they are too long. It keeps
// up to keep bytes of standard output whole.
func (p pipes) read(o *execution, keep int, stop stopper) *sync.WaitGroup {
	var readers sync.WaitGroup
	readers.Go(func() {
		drain(p.ours[0], &o.stdout, stop, func(b []byte) {
			o.text = append(o.text, b[:min(keep-len(o.text), len(b))]...)
		})
	})
	readers.Go(func() { drain(p.ours[1], &o.stderr, stop, func([]byte) {}) })
	return &readers
}

func drain(r *os.File, c *sandbox.Capture, stop stopper, also func([]byte)) {
	defer r.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		c.Take(buf[:n])
		also(buf[:n])
		if c.Size() > floodBytes {
			stop.stop(flooded)
		}
		if err != nil {
			return
		}
	}
}

// endTime bounds the reading of outputs after the command has ended. It is long because a reader may be late on a busy
// machine.
const endTime = 10 * time.Second

// hurry sets a deadline for outputs that some process still has open although the command was killed.
func (p pipes) hurry() {
	for _, f := range p.ours {
		_ = f.SetReadDeadline(time.Now().Add(endTime)) // it may be closed already
	}
}
