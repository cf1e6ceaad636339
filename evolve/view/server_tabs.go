package view

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// mostRead is how many journals are kept in memory at once. The one that no page asked for longest is dropped for another.
const mostRead = 16

// A tab is one run of the page.
//
// A journal is read when a page asks for it and not before, so a folder of a thousand runs costs little more than their
// names, and a run that nobody watches nothing. It is then followed while some page is open.
type tab struct {
	id    string
	begun int64 // time of the first record

	mu      sync.Mutex // of all below
	name    string
	path    string      // of the journal; "" if the program itself tells of the run
	file    os.FileInfo // of the journal, as it was looked at last
	used    bool        // some process had the run open then
	asked   time.Time   // when a page asked for the run last
	reading *reading    // nil if the journal is not read
	told    *telling    // what the program tells of the run; nil if there is a journal
}

// A reading is a run's log, and what follows its journal.
type reading struct {
	log   *runLog
	stop  func()        // ends following
	whole chan struct{} // closed once all that the file held is read, or following has ended

	mu    sync.Mutex // of what follows
	fault error      // what ended following
}

// head returns the ID of the run whose journal is at path, and when it began. A journal that another run began later under
// the same name has another ID.
func head(path string) (id string, begun int64, err error) {
	for r, err := range journal.Read(path) {
		if err != nil {
			return "", 0, err
		}
		return address(path, r.Time), r.Time, nil
	}
	return "", 0, fmt.Errorf("journal: %s has no whole record", path)
}

// address returns the ID of a run. It is the same when a server is started again, so a page's address keeps its meaning.
func address(name string, begun int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", name, begun))
	return hex.EncodeToString(sum[:6])
}

// read returns t's reading, and begins it if there is none. It returns nil if the Server is closed.
func (s *Server) read(t *tab) *reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked = time.Now()
	switch {
	case t.reading != nil:
	case t.told != nil:
		t.reading = &reading{log: newLog(t.id, t.name), whole: make(chan struct{}), stop: func() {}}
		close(t.reading.whole) // there is nothing to wait for
	default:
		t.reading = s.follow(t.id, t.name, t.path)
	}
	if t.reading == nil {
		return nil
	}
	t.reading.log.SetLive(t.used)
	if t.told != nil {
		t.told.take(t.reading.log)
	}
	return t.reading
}

// follow begins to read a journal. It returns nil if the Server is closed.
func (s *Server) follow(id, name, path string) *reading {
	end, open := s.begin()
	if !open {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &reading{log: newLog(id, name), whole: make(chan struct{}), stop: cancel} // called by drop, and that by Close
	r.log.SetSource(journalTexts(path))
	go func() {
		defer end()
		r.follow(ctx, path, s.news)
	}()
	return r
}

// follow reads the journal until ctx ends or the file cannot be followed. It calls news whenever it has read all that the
// file has.
func (r *reading) follow(ctx context.Context, path string, news func()) {
	whole := sync.OnceFunc(func() { close(r.whole) })
	defer whole()
	for record, err := range journal.Follow(ctx, path) {
		switch {
		case err != nil:
			r.fail(err)
			news()
		case record.Kind == journal.CaughtUp:
			whole()
			news()
		default:
			r.log.Add(record)
		}
	}
}

// fail keeps what ended following.
func (r *reading) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = err
}

// notes returns what is to be said of the reading beside what the journal says.
func (r *reading) notes(now int64) []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == nil {
		return nil
	}
	return []message{{Time: now, Kind: "error", Text: r.fault.Error(), Count: 1}}
}

// complete waits until all that the file held is read, but not longer than limit or ctx.
func (r *reading) complete(ctx context.Context, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-r.whole:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// drop forgets what was read of a journal. What a program told of a run is not in any file, and is kept.
func (t *tab) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.path == "" || t.reading == nil {
		return
	}
	t.reading.stop()
	t.reading = nil
}

// lastAsked returns when a page asked for t last, and reports whether t's journal is in memory.
func (t *tab) lastAsked() (when time.Time, read bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked, t.reading != nil && t.path != ""
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

// all returns the runs, in the order in which they began.
func (s *Server) all() []*tab {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*tab(nil), s.tabs...)
}

// forget drops journals from memory: all once no page has been open for a while, and those asked for longest ago
// where there are too many.
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
