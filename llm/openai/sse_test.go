package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readEvents returns all events of r as "kind|data", and why there are no more.
func readEvents(r io.Reader) (events []string, err error) {
	e := newEventReader(r)
	for {
		data, kind, err := e.next()
		if err != nil {
			return events, err
		}
		events = append(events, fmt.Sprintf("%s|%s", kind, data))
	}
}

func TestEventReader(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, tt := range []struct {
		reason, body string
		want         []string
		err          error
	}{
		{"two events", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}, io.EOF},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}, io.EOF},
		{"no blank after the colon", "data:a\n\n", []string{"|a"}, io.EOF},
		{"only one blank is not data", "data:  a\n\n", []string{"| a"}, io.EOF},
		{"data over several lines", "data: {\ndata: }\n\n", []string{"|{\n}"}, io.EOF},
		{"comments and other fields", ": ping\n\nid: 7\nretry: 10\ndata: a\n\n:\n\n", []string{"|a"}, io.EOF},
		{"a type, which does not outlive its event", "event: error\ndata: a\n\nevent: ping\n\ndata: b\n\n",
			[]string{"error|a", "|b"}, io.EOF},
		{"empty data is an event", "data\n\ndata:\n\n", []string{"|", "|"}, io.EOF},
		{"an event at the end without its empty line", "data: [DONE]", []string{"|[DONE]"}, io.EOF},
		{"more empty lines than needed", "\n\n\ndata: a\n\n\n\n", []string{"|a"}, io.EOF},
		{"a line longer than the buffer", "data: " + long + "\r\n\ndata: b\n\n", []string{"|" + long, "|b"}, io.EOF},
		{"nothing", "", nil, io.EOF},
		{"a line without an end", "data: " + strings.Repeat("x", maxEvent+1), nil, errLongEvent},
		{"data lines without an end", strings.Repeat("data: "+long+"\n", maxEvent/len(long)+1), nil, errLongEvent},
		{"a colon too many", "data: a: b\n\n", []string{"|a: b"}, io.EOF},
	} {
		for name, r := range map[string]io.Reader{
			"at once": strings.NewReader(tt.body), "by halves": iotest.HalfReader(strings.NewReader(tt.body)),
			"with the end": iotest.DataErrReader(strings.NewReader(tt.body)),
		} {
			got, err := readEvents(r)
			if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(err, tt.err) {
				t.Errorf("%s, %s: error %v, events (-want +got):\n%s", tt.reason, name, err, diff)
			}
		}
	}
}

func TestEventReaderReportsABrokenConnection(t *testing.T) {
	broken := errors.New("reset")
	got, err := readEvents(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)))
	if len(got) != 1 || !errors.Is(err, broken) {
		t.Errorf("events %q, error %v: want the whole one and the connection's error", got, err)
	}
}

// How a stream is cut into reads does not matter, nor whether lines end in CRLF.
func FuzzEventReader(f *testing.F) {
	for _, s := range []string{"data: a\n\ndata: b\n\n", "event: e\r\ndata: a\r\ndata: b\r\n\r\n", ": ping\n\n", "data",
		"\n", "data:\xff\n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		whole, err1 := readEvents(bytes.NewReader(body))
		bytewise, err2 := readEvents(iotest.OneByteReader(bytes.NewReader(body)))
		if diff := cmp.Diff(whole, bytewise); diff != "" || err1 != io.EOF || err2 != io.EOF {
			t.Errorf("errors %v and %v, events (-whole +byte by byte):\n%s", err1, err2, diff)
		}
		if bytes.IndexByte(body, '\r') >= 0 {
			return
		}
		crlf, _ := readEvents(bytes.NewReader(bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))))
		if diff := cmp.Diff(whole, crlf); diff != "" {
			t.Errorf("events (-LF +CRLF):\n%s", diff)
		}
	})
}
