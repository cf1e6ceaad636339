package view

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// mostRead bounds the journals in memory. The least recently requested one is dropped first.
const mostRead = 16

// A tab is one run on the page.
//
// A journal is read when a page first asks for it, so a folder of a thousand runs costs little more than their names.
// It is then followed while any page is open.
type tab struct {
	id    string
	begun int64 // time of the first record

	mu      sync.Mutex // of all below
	name    string
	path    string      // of the journal
	file    os.FileInfo // of the journal, at the last check
	used    bool        // whether a process had the run open then
	asked   time.Time   // when a page last asked for the run
	reading *reading    // nil if the journal is not read
}

// A reading is a run's log, and the goroutine that follows the journal.
type reading struct {
	log   *runLog
	stop  func()        // ends following
	whole chan struct{} // closed when the whole file is read, or following has ended

	mu    sync.Mutex // of what follows
	fault error      // the error that ended following
}

// head returns the ID and the beginning of the run whose journal is at path. A later run has another ID.
func head(path string) (id string, begun int64, err error) {
	for r, err := range record.Read(path) {
		if err != nil {
			return "", 0, err
		}
		return address(path, r.Time), r.Time, nil
	}
	return "", 0, fmt.Errorf("journal: %s has no whole record", path)
}

// address returns the ID of a run. It does not change when a server is restarted, so a page's address stays valid.
func address(name string, begun int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", name, begun))
	return hex.EncodeToString(sum[:6])
}

// read returns t's reading, and begins one if there is none. It returns nil if the Server is closed.
func (s *Server) read(t *tab) *reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked = time.Now()
	if t.reading == nil {
		t.reading = s.follow(t.id, t.name, t.path)
	}
	if t.reading != nil {
		t.reading.log.SetLive(t.used)
	}
	return t.reading
}

// follow begins a reading of a journal. It returns nil if the Server is closed.
func (s *Server) follow(id, name, path string) *reading {
	end, open := s.begin()
	if !open {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &reading{log: newLog(id, name), whole: make(chan struct{}), stop: cancel} // drop calls it, and Close calls drop
	r.log.shown.bases = s.bases
	r.log.SetSource(journalTexts(path))
	go func() {
		defer end()
		r.follow(ctx, path, s.news)
	}()
	return r
}

// follow reads the journal until ctx ends or the file cannot be followed. It calls news at each end of the file.
func (r *reading) follow(ctx context.Context, path string, news func()) {
	whole := sync.OnceFunc(func() { close(r.whole) })
	defer whole()
	for next, err := range record.Follow(ctx, path) {
		switch {
		case err != nil:
			r.fail(err)
			news()
		case next.Kind == record.CaughtUp:
			whole()
			news()
		default:
			r.log.Add(next)
		}
	}
}

// fail records the error that ended following.
func (r *reading) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = err
}

// notes returns messages on the reading, beside those of the journal.
func (r *reading) notes(now int64) []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == nil {
		return nil
	}
	return []message{{Time: now, Kind: "error", Text: r.fault.Error(), Count: 1}}
}

// complete waits until the whole file is read, but at most for limit or until ctx ends.
func (r *reading) complete(ctx context.Context, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-r.whole:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// drop frees a journal's reading.
func (t *tab) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reading == nil {
		return
	}
	t.reading.stop()
	t.reading = nil
}

// lastAsked returns when a page last asked for t, and whether t's journal is in memory.
func (t *tab) lastAsked() (when time.Time, read bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked, t.reading != nil
}

// tab returns the run with an ID.
func (s *Server) tab(id string) (*tab, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tabs {
		if t.id == id {
			return t, true
		}
	}
	return nil, false
}

// all returns the runs in the order of their beginning.
func (s *Server) all() []*tab {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*tab(nil), s.tabs...)
}

// forget drops journals: all when no page has been open for a while, else the least recently used of too many.
func (s *Server) forget() {
	s.mu.Lock()
	idle := len(s.readers) == 0 && time.Since(s.left) > s.cfg.pace.idle
	s.mu.Unlock()
	for {
		var oldest *tab
		var when time.Time
		n := 0
		for _, t := range s.all() {
			asked, read := t.lastAsked()
			if !read {
				continue
			}
			if n++; oldest == nil || asked.Before(when) {
				oldest, when = t, asked
			}
		}
		if n == 0 || !idle && n <= mostRead || idle && time.Since(when) < s.cfg.pace.idle {
			return
		}
		oldest.drop()
	}
}
