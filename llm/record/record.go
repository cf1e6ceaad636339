// Package record writes the exchanges of a run with a model to a file, and answers from it without one.
//
//	recorder, err := record.File(model, "run.jsonl") // a run asks recorder
//	...
//	model, err := record.Replay("run.jsonl") // and the same run again asks this
//
// A recording is for repeating, debugging and testing a run. To go on with a run that was stopped is what
// the journal of package evolve is for.
package record

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"github.com/evoalloc/evoalloc/llm"
)

// A Recorder is an LLM that writes every exchange with another to JSON Lines, from which [Replay]
// answers later. A line is an object:
//
//	v        the version of the format, 1
//	key      [llm.Key] of the request
//	request  the request in its canonical form, see [llm.Canonical]
//	reply    text, reasoning and attempts, as [llm.Reply] marshals
//	error    absent if there was none; else an [llm.ErrorRecord]
//
// A call that was given up before anything was sent is not written. The others are written in the order in
// which they ended, each by one Write as soon as it has, so that a killed process loses at most the line it
// was writing. They are not synced to disk one by one: a recording is for repeating a run, not for resuming
// it. Text that is not UTF-8 comes back with U+FFFD where the bad bytes were.
//
// It is safe for concurrent use.
type Recorder struct {
	l    llm.LLM
	name string
	file *os.File // nil unless File opened it
	torn int64

	mu     sync.Mutex
	w      io.Writer
	n      int
	failed error
}

var _ llm.LLM = (*Recorder)(nil)

// New returns a Recorder that asks l and writes each exchange to w. If w has a method Flush() error,
// as a bufio.Writer has, it is called after each.
//
// Where a write fails, Generate returns the whole reply, which was paid for, and an error for which
// [llm.Unavailable] is true. From then on nothing is sent to l any more.
func New(l llm.LLM, w io.Writer) *Recorder { return &Recorder{l: l, w: w, name: "a writer"} }

// File is [New] at the end of the file at path, which is created if it is not there, only for its owner to
// read. A last line that was torn when its writer was killed is cut off first; see [Recorder.Torn]. A file
// that holds anything but exchanges is refused and left as it is.
func File(l llm.LLM, path string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	torn, err := mend(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("record: %s: %w", path, err)
	}
	return &Recorder{l: l, w: f, file: f, name: path, torn: torn}, nil
}

// Generate asks the LLM and records what it answered.
func (r *Recorder) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := r.ready(req); err != nil {
		return llm.Reply{}, err
	}
	t := llm.TraceOf(ctx)
	var refused error
	send := func() error { refused = t.Send(); return refused }
	reply, err := llm.Send(llm.WithTrace(ctx, &llm.Trace{Send: send}), r.l, req)
	if err != nil && len(reply.Attempts) == 0 && cmp.Or(refused, ctx.Err(), t.Draining()) != nil {
		return reply, err // it was given up before anything was sent
	}
	if bad := r.write(req, reply, err); bad != nil && err != nil {
		return reply, fmt.Errorf("%w (of a call that ended with: %w)", bad, err)
	} else if bad != nil {
		return reply, bad
	}
	return reply, err
}

// ready reports why req cannot be recorded, before it is paid for.
func (r *Recorder) ready(req llm.Request) error {
	for name, x := range map[string]*float64{"temperature": req.Temperature, "top-p": req.TopP} {
		if x != nil && (math.IsNaN(*x) || math.IsInf(*x, 0)) {
			err := fmt.Errorf("%s %v cannot be recorded: need a finite number", name, *x)
			return &llm.Error{Status: llm.Failed, Kind: llm.KindBadRequest, Err: err}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil {
		return fmt.Errorf("record: not sent: %w", r.failed)
	}
	return nil
}

func (r *Recorder) write(req llm.Request, reply llm.Reply, err error) error {
	line, bad := encodeExchange(req, reply, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	if bad == nil {
		bad = writeLine(r.w, line)
	}
	if bad != nil {
		r.failed = unrecordable(fmt.Errorf("record: writing to %s: %w", r.name, bad))
		return r.failed
	}
	r.n++
	return nil
}

// unrecordable makes an Error that ends a run, whatever else is in its chain.
func unrecordable(err error) error {
	return &llm.Error{Status: llm.Failed, Kind: llm.KindOther, Err: fmt.Errorf("%w: %w", err, llm.ErrUnavailable)}
}

func writeLine(w io.Writer, line []byte) error {
	n, err := w.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if f, ok := w.(interface{ Flush() error }); ok && err == nil {
		err = f.Flush()
	}
	return err
}

// Torn returns how many bytes of a torn last line [File] cut off.
func (r *Recorder) Torn() int64 { return r.torn }

// Close closes the file that [File] opened. After it nothing can be recorded, and so nothing
// is sent. It returns the first error there was in writing, if any.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	failed := r.failed
	if r.file != nil {
		failed = errors.Join(failed, r.file.Close())
		r.file = nil
	}
	if r.failed == nil {
		r.failed = unrecordable(errors.New("the recorder is closed"))
	}
	return failed
}

// Unwrap returns the LLM that is asked.
func (r *Recorder) Unwrap() llm.LLM { return r.l }

// Announces returns true, see [llm.Announces].
func (r *Recorder) Announces() bool { return true }

// String names what is asked and where it is recorded.
func (r *Recorder) String() string { return fmt.Sprintf("Record(%v, %s)", r.l, r.name) }

// mend makes f end with a whole line, or be empty, and returns the number of bytes it cut.
func mend(f *os.File) (cut int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return 0, nil
	}
	whole, last, err := lastLine(f)
	switch {
	case err != nil:
		return 0, err
	case len(last) == 0:
		return 0, nil
	}
	if _, _, _, bad := decodeExchange(last); bad == nil { // only its newline is missing
		_, err := f.Write([]byte{'\n'})
		return 0, err
	}
	if whole == 0 && !beginsLine(last) {
		return 0, errNoRecording
	}
	return int64(len(last)), f.Truncate(whole)
}

// lastLine reads f to its end. It returns the length of its whole lines and what follows them, and
// an error if a whole line is not an exchange.
func lastLine(f *os.File) (whole int64, rest []byte, err error) {
	lines := newLineReader(f)
	for {
		line, complete, err := lines.next()
		switch {
		case err == io.EOF:
			return whole, nil, nil
		case err != nil:
			return 0, nil, err
		case !complete:
			return whole, line, nil
		}
		if _, _, _, bad := decodeExchange(line); bad != nil && len(bytes.TrimSpace(line)) > 0 {
			return 0, nil, fmt.Errorf("line %d is not an exchange: %w", lines.n, bad)
		}
		whole += int64(len(line)) + 1
	}
}
