package wal

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"strconv"
)

// An Entry is a sound line.
type Entry struct {
	Index  int
	Place  Place
	Object []byte // {"i":17,...} without the checksum; valid until the next entry
}

// A DamageError says that a line is damaged and that sound ones follow it. A torn tail is not damage.
type DamageError struct {
	Line   int // counted from 1
	Offset int64
	Reason string
}

// Error names the line.
func (e *DamageError) Error() string {
	return fmt.Sprintf("line %d (byte %d) is damaged: %s", e.Line, e.Offset, e.Reason)
}

// Scan reads lines in order. It ends without an error at a torn tail: bad lines that no sound one
// follows. Bad lines before a sound one, and sound lines that are missing or stand twice, are a
// [*DamageError].
func Scan(r io.Reader) iter.Seq2[Entry, error] { return ScanFrom(r, 0, 0) }

// ScanFrom is Scan of a log from the line with the number index on, which begins at offset and is the first of r.
func ScanFrom(r io.Reader, index int, offset int64) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s := scanner{r: bufio.NewReaderSize(r, BufferSize), number: index, offset: offset}
		for s.next() {
			switch e, ok := parse(s.line); {
			case !ok && s.bad == nil:
				s.bad = &DamageError{s.number, s.offset, "its checksum is wrong"}
			case !ok: // more of what may be the tail
			case s.bad != nil:
				yield(Entry{}, s.bad)
				return
			case e.Index != s.number-1:
				yield(Entry{}, &DamageError{s.number, s.offset,
					fmt.Sprintf("it has the number %d, not %d: lines are missing or stand twice", e.Index, s.number-1)})
				return
			default:
				e.Place = Place{s.offset, len(s.line)}
				if !yield(e, nil) {
					return
				}
			}
		}
		if s.err != nil {
			yield(Entry{}, s.err)
		}
	}
}

// BufferSize is the size of the buffer through which a log is read. A [bufio.Reader] of that size is used as it is.
const BufferSize = 1 << 18

// A scanner cuts a stream into lines, without bounds on their length.
type scanner struct {
	r      *bufio.Reader
	line   []byte // with its line feed, unless the stream ends without one
	long   []byte // scratch for a line longer than r's buffer
	number int    // of line, from 1
	offset int64  // of line
	bad    *DamageError
	err    error
}

// next reads the next line and reports whether there is one.
func (s *scanner) next() bool {
	s.offset += int64(len(s.line))
	s.number++
	line, err := s.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		s.long = append(s.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = s.r.ReadSlice('\n')
			s.long = append(s.long, line...)
		}
		line = s.long
	}
	s.line = line
	if err != nil && err != io.EOF {
		s.err = err
		return false
	}
	return len(line) > 0
}

// The fixed parts of a line.
const (
	head = `{"i":`
	tail = `,"crc":"00000000"}` + "\n"
)

// parse checks a line and takes it apart, overwriting one byte of it.
func parse(line []byte) (Entry, bool) {
	cut := len(line) - len(tail)
	if cut < len(head) || !bytes.HasPrefix(line, []byte(head)) {
		return Entry{}, false
	}
	sum := line[cut+len(`,"crc":"`):]
	if !bytes.HasPrefix(line[cut:], []byte(`,"crc":"`)) || string(sum[8:]) != "\"}\n" {
		return Entry{}, false
	}
	var want [4]byte
	if _, err := hex.Decode(want[:], sum[:8]); err != nil {
		return Entry{}, false
	}
	got := crc32.Checksum(line[:cut], castagnoli)
	if got != uint32(want[0])<<24|uint32(want[1])<<16|uint32(want[2])<<8|uint32(want[3]) {
		return Entry{}, false
	}
	digits, _, ok := bytes.Cut(line[len(head):cut], []byte{','})
	i, err := strconv.Atoi(string(digits))
	if !ok || err != nil {
		return Entry{}, false
	}
	line[cut] = '}' // in place of the comma before the checksum
	return Entry{Index: i, Object: line[:cut+1]}, true
}

// Copy writes the entry's line as it stands in the log.
func (e Entry) Copy(w io.Writer) error {
	body := e.Object[:len(e.Object)-1]
	_, err := fmt.Fprintf(w, `%s,"crc":"%08x"}`+"\n", body, crc32.Checksum(body, castagnoli))
	return err
}
