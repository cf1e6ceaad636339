package view

import (
	"io"
	"net/http"
	"time"
)

// A reader is a page that waits for news.
type reader struct {
	more chan struct{} // has room for one word: what is not read yet needs no second
}

// news says that some run has changed. It never waits.
func (s *Server) news() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// tell passes news on to all readers, but not more often than cfg.pace.between: many records are one word.
func (s *Server) tell() {
	for {
		select {
		case <-s.dirty:
		case <-s.done:
			return
		}
		s.mu.Lock()
		for r := range s.readers {
			select {
			case r.more <- struct{}{}:
			default:
			}
		}
		s.mu.Unlock()
		select {
		case <-time.After(s.cfg.pace.between):
		case <-s.done:
			return
		}
	}
}

// join adds a reader, and reports whether there is a place for one.
func (s *Server) join() (*reader, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.readers) >= s.cfg.Readers {
		return nil, false
	}
	r := &reader{more: make(chan struct{}, 1)}
	s.readers[r] = struct{}{}
	return r, true
}

// leave takes a reader away.
func (s *Server) leave(r *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.readers, r)
	s.left = time.Now()
}

// events is the stream that says that there is more. What there is the page asks for, so a stream has nothing to keep for
// a reader that is slow, and nothing to repeat for one that comes back.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	reader, ok := s.join()
	if !ok {
		w.Header().Set("Retry-After", "5")
		refuse(w, refusal{http.StatusServiceUnavailable, "as many pages are open as may be: close one"})
		return
	}
	defer s.leave(reader)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no") // for a proxy before a program's own server
	s.stream(patient{w, s.cfg.pace.write}, reader, r)
}

// stream writes to a reader until it goes away, does not read, or the Server closes.
func (s *Server) stream(w patient, reader *reader, r *http.Request) {
	beat := time.NewTicker(s.cfg.pace.beat)
	defer beat.Stop()
	word := ":\n\n" // a comment, which tells the page that it is connected
	for {
		if _, err := io.WriteString(w, word); err != nil {
			return
		}
		if w.flush() != nil {
			return
		}
		select {
		case <-reader.more:
			word = "data: more\n\n"
		case <-beat.C:
			word = ":\n\n"
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		}
	}
}
