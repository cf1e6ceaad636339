package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// A stream writes an answer in pieces. A client that takes none in for too long is given up.
type stream struct {
	w        http.ResponseWriter
	rc       *http.ResponseController
	patience time.Duration
	begun    bool
	number   int   // of the next event, where events have numbers
	err      error // the first, after which nothing is written
}

func (s *stream) write(b []byte) {
	if s.err == nil {
		s.rc.SetWriteDeadline(time.Now().Add(s.patience))
		_, s.err = s.w.Write(b)
	}
}

func (s *stream) flush() {
	if s.err == nil {
		s.rc.SetWriteDeadline(time.Now().Add(s.patience))
		s.err = s.rc.Flush()
	}
}

// event writes a server-sent event, of the given kind unless that is "".
func (s *stream) event(kind string, data any) {
	b, _ := json.Marshal(data) // of strings, numbers and JSON that was checked
	s.raw(kind, string(b))
}

func (s *stream) raw(kind, data string) {
	s.begin()
	if kind != "" {
		s.write([]byte("event: " + kind + "\n"))
	}
	s.write([]byte("data: " + data + "\n\n"))
}

// comment writes a line that clients ignore.
func (s *stream) comment(text string) {
	s.begin()
	s.write([]byte(": " + text + "\n\n"))
}

func (s *stream) begin() {
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("Cache-Control", "no-cache")
	}
}

// renew gives the client of w its time again to take in what is written next.
func (g *Gateway) renew(w http.ResponseWriter) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(g.cfg.bounds.patience))
}

func (g *Gateway) writeJSON(w http.ResponseWriter, v any) {
	g.renew(w)
	body, _ := json.Marshal(v) // of strings and numbers
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

func itoa(n int) string { return strconv.Itoa(n) }
