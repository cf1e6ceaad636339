package view

import (
	"io"
	"net/http"
	"time"
)

// A reader is an open page that waits for news.
type reader struct {
	more chan struct{} // has room for one signal, which stands for any number of records
}

// news signals that some run has changed. It never waits.
func (s *Server) news() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// tell passes news on to all readers, at most once in pace.between: one signal stands for many records.
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

// join adds a reader, or returns false if there are too many.
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

// leave removes a reader.
func (s *Server) leave(r *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.readers, r)
	s.left = time.Now()
}

// events is the stream of signals that there is more. The page asks for the data itself, so a stream need not buffer
// for a slow reader or repeat anything for a returning one.
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

// stream writes to a reader until the reader leaves or does not read, or the Server closes.
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
