package record

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/llm"
)

// ErrNotRecorded is wrapped by the error of a [Replayer] that is asked what its recording does not
// hold.
var ErrNotRecorded = errors.New("not recorded")

// A Replayer is an LLM that answers from a recording, at once and without an endpoint, so that a
// run can be repeated, debugged and tested. Replies, attempts and errors are those of the recorded
// exchanges: errors.As finds the same [*llm.Error], and [llm.StatusOf] and [llm.Unavailable] say the same.
//
// A request is answered from the exchanges whose request is equal to it (see [llm.Key]), in the order
// in which they stand in the recording, each once. An exchange that its caller gave up on is passed
// over where a later one has the same request: it shows what the caller did, not what the model
// said.
//
// For a request that is not in the recording, or was asked more often than it was recorded, Generate returns
// an error that wraps [ErrNotRecorded] and says whether the prompt was recorded, with another seed or
// sampling. The error is also [llm.Unavailable]: the run that asks differs from the one that was recorded,
// and any later answer would be a guess.
//
// It is safe for concurrent use, and holds the whole recording in memory.
type Replayer struct {
	name string
	torn int
	size int // exchanges

	mu      sync.Mutex
	left    int
	byKey   map[digest]*recorded
	prompts map[digest]int // of messages alone: the line where they stand first
}

type digest = [32]byte

// recorded holds the exchanges of one request.
type recorded struct {
	line    int // where it stands first
	answers []answer
	next    int
}

type answer struct {
	reply llm.Reply
	err   *llm.ErrorRecord
}

var _ llm.LLM = (*Replayer)(nil)

// Replay returns a Replayer that answers from the recording at path. A last line that was torn when its
// writer was killed is left out; see [Replayer.Torn]. Any other line that is not an
// exchange is an error that names it.
func Replay(path string) (*Replayer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("record: replay: %w", err)
	}
	defer f.Close()
	return replay(f, path)
}

// ReplayFrom is [Replay] of what r holds until its end.
func ReplayFrom(r io.Reader) (*Replayer, error) { return replay(r, "a reader") }

func replay(from io.Reader, name string) (*Replayer, error) {
	r := &Replayer{name: name, byKey: make(map[digest]*recorded), prompts: make(map[digest]int)}
	lines := newLineReader(from)
	for {
		line, complete, err := lines.next()
		if err == io.EOF {
			r.passOver()
			return r, nil
		}
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			err = r.add(line, lines.n)
			if err != nil && !complete && (r.size > 0 || beginsLine(line)) {
				r.torn, err = len(line), nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("record: replay of %s: line %d: %w", name, lines.n, err)
		}
	}
}

// add enters one line.
func (r *Replayer) add(line []byte, n int) error {
	req, reply, fail, err := decodeExchange(line)
	if err != nil {
		return err
	}
	shared := llm.Digest(llm.Request{Messages: req.Messages})
	if _, ok := r.prompts[shared]; !ok {
		r.prompts[shared] = n
	}
	key := llm.Digest(req)
	rec := r.byKey[key]
	if rec == nil {
		rec = &recorded{line: n}
		r.byKey[key] = rec
	}
	rec.answers = append(rec.answers, answer{reply, fail})
	r.size++
	r.left++
	return nil
}

// passOver drops the exchanges that were given up on and later made.
func (r *Replayer) passOver() {
	for _, rec := range r.byKey {
		last := len(rec.answers) - 1
		i := 0
		kept := slices.DeleteFunc(rec.answers, func(a answer) bool {
			i++
			err := a.err.Err()
			return i <= last && (llm.StatusOf(err) == llm.Canceled || errors.Is(err, llm.ErrDraining))
		})
		r.left -= last + 1 - len(kept)
		rec.answers = kept
	}
}

// Generate answers req from the recording. A context that has ended takes nothing from it.
func (r *Replayer) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, fmt.Errorf("record: replay: not asked: %w", err)
	}
	key := llm.Digest(req)
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.byKey[key]
	switch {
	case rec == nil:
		return llm.Reply{}, r.missing(req)
	case rec.next == len(rec.answers):
		return llm.Reply{}, r.notRecorded("request %.12x was asked more often than it was recorded, %d times (line %d)",
			key, rec.next, rec.line)
	}
	a := rec.answers[rec.next]
	rec.answers[rec.next] = answer{} // given once; the caller may do with it what it likes
	rec.next++
	r.left--
	return a.reply, a.err.Err()
}

// missing makes the error for a request that was not recorded.
func (r *Replayer) missing(req llm.Request) error {
	if line, ok := r.prompts[llm.Digest(llm.Request{Messages: req.Messages})]; ok {
		return r.notRecorded("request %.12s is not among the %d exchanges; its prompt is (line %d), with another seed or sampling",
			llm.Key(req), r.size, line)
	}
	return r.notRecorded("request %.12s is not among the %d exchanges, nor is its prompt, whose last message begins %q",
		llm.Key(req), r.size, beginning(req))
}

// beginning returns the first line of a prompt's last message, cut to what an error has room for.
func beginning(req llm.Request) string {
	if len(req.Messages) == 0 {
		return ""
	}
	text := req.Messages[len(req.Messages)-1].Content
	room := 60
	for i, r := range text {
		if room--; room < 0 || r == '\n' {
			return text[:i] + "..."
		}
	}
	return text
}

func (r *Replayer) notRecorded(format string, args ...any) error {
	return notRecordedError(fmt.Sprintf("record: replay of %s: ", r.name) + fmt.Sprintf(format, args...))
}

// A notRecordedError is the error of a Replayer that has no answer.
type notRecordedError string

func (e notRecordedError) Error() string   { return string(e) }
func (e notRecordedError) Unwrap() []error { return []error{ErrNotRecorded, llm.ErrUnavailable} }

// Left returns how many exchanges have not been asked for yet.
func (r *Replayer) Left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left
}

// Torn returns the length of a torn last line, in bytes; 0 if the recording ends with a whole one.
func (r *Replayer) Torn() int { return r.torn }

// String says what the recording holds.
func (r *Replayer) String() string {
	s := fmt.Sprintf("Replay(%s: %d exchanges", r.name, r.size)
	if r.torn > 0 {
		s += fmt.Sprintf(", and %d bytes of a torn line", r.torn)
	}
	return s + ")"
}

// maxLine bounds a line, in bytes.
const maxLine = 256 << 20

// A lineReader reads lines of any length up to maxLine.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
	n   int // the number of the line read last, from 1
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its newline, valid until the next call, and whether it had
// one. It returns io.EOF after the last.
func (l *lineReader) next() (line []byte, complete bool, err error) {
	l.buf = l.buf[:0]
	l.n++
	for {
		part, err := l.r.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		switch {
		case len(l.buf) > maxLine:
			return nil, false, fmt.Errorf("longer than %d bytes: not an exchange", maxLine)
		case err == nil:
			return l.buf[:len(l.buf)-1], true, nil
		case err == io.EOF && len(l.buf) > 0:
			return l.buf, false, nil
		case err != bufio.ErrBufferFull:
			return nil, false, err
		}
	}
}
