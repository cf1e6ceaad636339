package view

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A source is a path given to [Server.Follow].
type source struct {
	path   string
	folder bool
}

// journalEnding ends the names of journals in a folder.
const journalEnding = ".journal"

// Follow shows the run whose journal is at path, or, if path is a folder, each run whose journal is in it or below and
// has a name that ends in ".journal". Any process may write them. Later runs appear, and ended runs stay, even if their
// journals are renamed because another run takes the name. It fails if there is nothing at path, or a file that is not
// a journal.
func (s *Server) Follow(path string) error {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path) // since a walk does not follow a link at its root
	}
	if err != nil {
		return fmt.Errorf("view: following a run: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("view: following a run: %w", err)
	}
	if !info.IsDir() {
		if _, _, err := head(path); err != nil {
			return fmt.Errorf("view: following a run: %w", err)
		}
	}
	s.mu.Lock()
	s.sources = append(s.sources, source{path, info.IsDir()})
	s.mu.Unlock()
	s.scan(0)
	return nil
}

// look scans for changes regularly: in folders, and in journals that are not in memory.
func (s *Server) look() {
	ticker := time.NewTicker(s.cfg.pace.scan)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-s.done:
			return
		}
		s.scan(0)
		s.forget()
	}
}

// scan takes in new journals, and signals readers if any run has changed, but not within since of the last scan.
func (s *Server) scan(since time.Duration) {
	s.scanning.Lock()
	defer s.scanning.Unlock()
	if time.Since(s.scanned) < since {
		return
	}
	changed := false
	s.mu.Lock()
	sources := slices.Clone(s.sources)
	s.mu.Unlock()
	known := map[string]*tab{}
	for _, t := range s.all() {
		known[t.at()] = t
	}
	for _, from := range sources {
		for _, path := range from.journals() {
			changed = s.takeIn(from, path, known[path]) || changed
		}
	}
	for _, t := range s.all() {
		changed = t.refresh() || changed
	}
	s.scanned = time.Now()
	if changed {
		s.news()
	}
}

// journals returns the paths of the present journals, without unreadable ones, which are scanned again.
func (s source) journals() (paths []string) {
	if !s.folder {
		return []string{s.path}
	}
	filepath.WalkDir(s.path, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, journalEnding) {
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}

// takeIn adds the journal at path if it is new, and reports whether it did so or renamed a known one. was is the run
// whose journal was at path in the last scan, or nil; usually it still is, which saves a look at the others.
func (s *Server) takeIn(from source, path string, was *tab) bool {
	info, err := os.Stat(path)
	if err != nil || was != nil && was.holds(info) {
		return false
	}
	name := from.name(path)
	for _, t := range s.all() {
		if t.holds(info) {
			return t.rename(path, name)
		}
	}
	id, begun, err := head(path)
	if err != nil { // its first record is being written
		return false
	}
	used, err := journal.InUse(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.tabs, func(t *tab) bool { return t.id == id }) {
		return false // a copy of a journal took its place
	}
	s.tabs = append(s.tabs, &tab{id: id, begun: begun, name: name, path: path, file: info, used: used && err == nil})
	slices.SortStableFunc(s.tabs, func(a, b *tab) int {
		return cmp.Or(cmp.Compare(a.begun, b.begun), strings.Compare(a.name, b.name))
	})
	return true
}

// name returns the name of the run whose journal is at path.
func (s source) name(path string) string {
	name := filepath.Base(path)
	if s.folder {
		if below, err := filepath.Rel(s.path, path); err == nil {
			name = filepath.ToSlash(below)
		}
	}
	return strings.TrimSuffix(name, journalEnding)
}

// at returns the path of t's journal.
func (t *tab) at() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.path
}

// holds reports whether t's journal is the file.
func (t *tab) holds(file os.FileInfo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.file != nil && os.SameFile(t.file, file)
}

// rename gives t the path and name of its journal, which is then read again. It reports whether they changed.
func (t *tab) rename(path, name string) bool {
	t.mu.Lock()
	file, err := os.Stat(t.path)
	moved := t.path != path && (err != nil || !os.SameFile(file, t.file)) // otherwise the file has two names
	if moved {
		t.path, t.name = path, name
	}
	t.mu.Unlock()
	if moved {
		t.drop()
	}
	return moved
}

// refresh checks t's journal, and reports whether it changed: it grew, or a process opened or closed it.
func (t *tab) refresh() bool {
	path := t.at()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	used, unknown := journal.InUse(path)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil || unknown != nil || !os.SameFile(t.file, info) {
		return false
	}
	changed := info.Size() != t.file.Size() || used != t.used
	t.file, t.used = info, used
	if t.reading != nil {
		t.reading.log.SetLive(used)
	}
	return changed
}
