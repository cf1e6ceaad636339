package view

import (
	"bytes"
	"net/http"
	"time"
)

// mostReported bounds the runs in one report of a Server.
const mostReported = 16

// reportPatience bounds a report's wait for a journal that is being read.
const reportPatience = 30 * time.Second

// serveReport answers with the current report as a file: of the runs that the request names, or of the latest one.
func (s *Server) serveReport(w http.ResponseWriter, r *http.Request) {
	tabs, ok := s.chosen(r)
	if !ok {
		refuse(w, refusal{http.StatusNotFound, "there is no such run, or there are more than a report can have"})
		return
	}
	var all []*reading
	for _, t := range tabs {
		read := s.read(t)
		if read == nil {
			refuse(w, closing)
			return
		}
		read.complete(r.Context(), reportPatience)
		all = append(all, read)
	}
	var b bytes.Buffer
	var err error
	s.room.make(func() {
		page := pageData{Title: s.cfg.Title}
		for _, read := range all {
			page.Runs = append(page.Runs, s.also(read.log.Saved(), read))
		}
		err = render(&b, page)
	})
	if err != nil {
		refuse(w, refusal{http.StatusInternalServerError, "the report cannot be made: " + err.Error()})
		return
	}
	w.Header().Set("Content-Disposition", `attachment; filename="report.html"`)
	s.send(w, "text/html; charset=utf-8", b.Bytes())
}

// chosen returns the runs that a request names by ID, or the latest one.
func (s *Server) chosen(r *http.Request) (tabs []*tab, ok bool) {
	r.ParseForm()
	for _, id := range r.Form["run"] {
		t, found := s.tab(id)
		if !found || len(tabs) == mostReported {
			return nil, false
		}
		tabs = append(tabs, t)
	}
	if all := s.all(); len(tabs) == 0 && len(all) > 0 {
		tabs = all[len(all)-1:]
	}
	return tabs, true
}
