package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxEvent bounds one event of a stream, in bytes: some ten times a whole answer in one chunk.
const maxEvent = 4 << 20

var errLongEvent = errors.New("an event of the stream is too long")

// An eventReader reads server-sent events by the HTML standard: lines that end in LF or CRLF, the data lines of an
// event joined by LF, an empty line after each event. It ignores comments and the fields id and retry. Unlike the
// standard it accepts a last event without the empty line, and does not treat a lone CR as a line end, which no server
// sends.
type eventReader struct {
	r    *bufio.Reader
	long []byte // a line that is longer than r's buffer
	data []byte
	kind []byte // the field event
	some bool   // whether the current event has a data field
}

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 4<<10)}
}

// next returns the next event's data and type, valid until the next call. It returns io.EOF after the last event, or
// the reader's error.
func (e *eventReader) next() (data, kind []byte, err error) {
	e.data, e.kind, e.some = e.data[:0], e.kind[:0], false
	for {
		line, err := e.line()
		switch {
		case err == io.EOF && e.some:
			return e.data, e.kind, nil
		case err != nil:
			return nil, nil, err
		case len(line) > 0:
			err = e.field(line)
		case e.some:
			return e.data, e.kind, nil
		default: // ignore an event without data
			e.kind = e.kind[:0]
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// field parses one line.
func (e *eventReader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if e.some {
			e.data = append(e.data, '\n')
		}
		e.data, e.some = append(e.data, value...), true
	case "event":
		e.kind = append(e.kind[:0], value...)
	}
	if len(e.data) > maxEvent {
		return errLongEvent
	}
	return nil
}

// line returns the next line without its end. A last line without an end counts: if it was cut, its contents show that.
func (e *eventReader) line() ([]byte, error) {
	line, err := e.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line, err = e.longLine(line)
	}
	if err != nil && (err != io.EOF || len(line) == 0) {
		return nil, err
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

func (e *eventReader) longLine(begin []byte) ([]byte, error) {
	e.long = append(e.long[:0], begin...)
	for {
		part, err := e.r.ReadSlice('\n')
		e.long = append(e.long, part...)
		switch {
		case len(e.long) > maxEvent:
			return nil, errLongEvent
		case err != bufio.ErrBufferFull:
			return e.long, err
		}
	}
}
