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

// An eventReader reads server-sent events as the HTML standard describes them: lines that end in LF
// or CRLF, the data lines of an event joined by LF, an empty line after each event. Comments and
// the fields id and retry are passed over. Unlike the standard it takes an event at the very end
// that lacks the empty line, and does not take a lone CR as the end of a line, which no server
// sends.
type eventReader struct {
	r    *bufio.Reader
	long []byte // a line that is longer than r's buffer
	data []byte
	kind []byte // the field event
	some bool   // the event at hand has a data field
}

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 4<<10)}
}

// next returns the next event's data and type, valid until the next call. It returns io.EOF after
// the last event, and the reader's error if that ended in any other way.
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
		default: // an event without data is none
			e.kind = e.kind[:0]
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// field enters one line.
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

// line returns the next line without its end. A last line without one counts: what it was cut from
// shows in what it says.
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
