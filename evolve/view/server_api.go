package view

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// shell returns the page without data.
func shell(title string) ([]byte, error) {
	var b bytes.Buffer
	err := render(&b, pageData{Title: title, Live: true})
	return b.Bytes(), err
}

// quiet returns a logger that drops http.Server's complaints about connections, with which any reader could fill a log.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// routes returns the handler of all paths.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.servePage)
	mux.HandleFunc("/api/runs", s.serveRuns)
	mux.HandleFunc("/api/state", s.serveState)
	mux.HandleFunc("/api/program", s.serveProgram)
	mux.HandleFunc("/api/diff", s.serveDiff)
	mux.HandleFunc("/api/events", s.events)
	mux.HandleFunc("/report", s.serveReport)
	return mux
}

// ServeHTTP serves the page at "/" and what it asks for below, in a program's own server, such as behind
//
//	mux.Handle("/runs/", http.StripPrefix("/runs", auth(server)))
//
// It refuses all methods but GET, and requests from pages of other sites. It checks neither token nor name, because it
// cannot know who may read: for every path the program must admit only those who may read all of the runs' programs,
// prompts and replies, and must refuse requests with a foreign Host.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if why := foreign(r); why != nil {
		refuse(w, *why)
		return
	}
	end, open := s.begin()
	if !open {
		refuse(w, closing)
		return
	}
	defer end()
	headers(w.Header(), noContent)
	s.mux.ServeHTTP(w, r)
}

var closing = refusal{http.StatusServiceUnavailable, "the server is closing"}

// servePage answers with the page itself.
func (s *Server) servePage(w http.ResponseWriter, _ *http.Request) {
	headers(w.Header(), policy(true)+"; frame-ancestors 'none'")
	s.send(w, "text/html; charset=utf-8", s.page)
}

// A listing is the runs as the page lists them before it asks for one.
type listing struct {
	Title string    `json:"title"`
	Runs  []heading `json:"runs"`
}

// A heading is a run's tab.
type heading struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Begun int64  `json:"begun"` // milliseconds since 1970
	Open  bool   `json:"open"`  // some process has its journal open
}

// serveRuns answers with the list of runs.
func (s *Server) serveRuns(w http.ResponseWriter, _ *http.Request) {
	s.scan(s.cfg.pace.between)
	list := listing{Title: s.cfg.Title, Runs: []heading{}}
	for _, t := range s.all() {
		t.mu.Lock()
		list.Runs = append(list.Runs, heading{t.id, t.name, t.begun, t.used})
		t.mu.Unlock()
	}
	s.answer(w, func() any { return list })
}

// asked returns the reading of the run that a request names, or answers with an error and returns nil.
func (s *Server) asked(w http.ResponseWriter, r *http.Request) *reading {
	t, found := s.tab(r.FormValue("run"))
	if !found {
		refuse(w, refusal{http.StatusNotFound, "there is no such run"})
		return nil
	}
	read := s.read(t)
	if read == nil {
		refuse(w, closing)
		return nil
	}
	s.forget()
	read.complete(r.Context(), patience)
	return read
}

// patience is how long an answer waits for a journal that is being read. Then it shows the part read so far, and the
// page is told when there is more.
const patience = 2 * time.Second

// serveState answers with the part of a run that a page does not have yet.
func (s *Server) serveState(w http.ResponseWriter, r *http.Request) {
	from, ok := cursor(r)
	if !ok {
		refuse(w, refusal{http.StatusBadRequest, "children and rounds are numbers from 0"})
		return
	}
	read := s.asked(w, r)
	if read == nil {
		return
	}
	s.answer(w, func() any { return s.also(read.log.State(from), read) })
}

// cursor returns the rows that a page has.
func cursor(r *http.Request) (c rowCursor, ok bool) {
	for name, to := range map[string]*int{"children": &c.Children, "rounds": &c.Rounds} {
		text := r.FormValue(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return c, false
		}
		*to = n
	}
	return c, true
}

// also adds to a run's state what the Server knows beside the journal.
func (s *Server) also(st runState, read *reading) runState {
	st.Messages = append(slices.Clip(st.Messages), read.notes(st.Now)...)
	return st
}

// serveProgram answers with a program's text.
func (s *Server) serveProgram(w http.ResponseWriter, r *http.Request) {
	read := s.asked(w, r)
	if read == nil {
		return
	}
	s.answer(w, func() any {
		if code, found := read.log.Program(r.FormValue("key")); found {
			return code
		}
		return refusal{http.StatusNotFound, "the run has no such program"}
	})
}

// serveDiff answers with the changes from one program to another.
func (s *Server) serveDiff(w http.ResponseWriter, r *http.Request) {
	read := s.asked(w, r)
	if read == nil {
		return
	}
	s.answer(w, func() any { return read.log.Diff(r.FormValue("from"), r.FormValue("to")) })
}

// answer answers with the result of value as JSON, or refuses if that is a refusal. Only a few answers are made at
// once, since value may read a journal and colour programs.
func (s *Server) answer(w http.ResponseWriter, value func() any) {
	var b []byte
	var err error
	var why refusal
	var refused bool
	s.room.make(func() {
		v := value()
		if why, refused = v.(refusal); !refused {
			b, err = json.Marshal(v)
		}
	})
	switch {
	case refused:
		refuse(w, why)
	case err != nil:
		refuse(w, refusal{http.StatusInternalServerError, "this cannot be shown: " + err.Error()})
	default:
		s.send(w, "application/json", b)
	}
}

// send writes an answer, if there is room for it.
func (s *Server) send(w http.ResponseWriter, kind string, b []byte) {
	leave, ok := s.room.take(len(b))
	if !ok {
		w.Header().Set("Retry-After", "1")
		refuse(w, refusal{http.StatusServiceUnavailable, "too many answers are waiting for their readers: ask again"})
		return
	}
	defer leave()
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	patient{w, s.cfg.pace.write}.Write(b) // an error is the reader's own
}
