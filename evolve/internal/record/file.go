// Package record is the file below package journal: its records, how they are written, read and followed, and how a
// run that goes on recalls them. Only evolve writes records, and only history and the page read them: a program opens
// a journal by package journal and reads what a run was by package history. docs/reference.md describes the file.
package record

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/internal/wal"
)

// Version is the version of the format, in a journal's first record.
const Version = 2

// The errors of package journal, which says what each means.
var (
	ErrDiverged = errors.New("the journal is of another run")
	ErrWrite    = errors.New("the journal cannot be written")
	ErrVersion  = errors.New("the journal's format has another version")
	ErrLocked   = wal.ErrLocked
	ErrUnsafe   = wal.ErrUnsafe
	ErrInUse    = errors.New("another run uses the journal now")
)

// A Journal is one open file. It is safe for concurrent use.
type Journal struct {
	path string
	log  *wal.Log
	used atomic.Bool // a run uses it now

	mu sync.Mutex // of all below
	index
	decisions
	err error // ErrDiverged, once found: it stays, so that nothing is paid for after it
}

// Config says what an opened journal is for, as journal.Config does.
type Config struct {
	Fingerprint map[string]string
	Resume      bool
	Command     string
	Unsafe      bool
}

// Open makes the file, or goes on with it, as journal.Open says.
func Open(path string, cfg Config) (*Journal, error) {
	j := &Journal{path: path, index: newIndex(), decisions: newDecisions()}
	if err := j.open(cfg); err != nil {
		return nil, fmt.Errorf("journal: %s: %w", path, err)
	}
	j.close()
	j.now = time.Now()
	j.wrote.Store(false) // but for the record that this incarnation begins
	if len(j.made) == 0 {
		close(j.live)
	}
	return j, nil
}

func (j *Journal) open(cfg Config) (err error) {
	var header *Record
	lax := wal.Lax(cfg.Unsafe)
	if j.log, err = lax.Create(j.path); errors.Is(err, fs.ErrExist) {
		if !cfg.Resume {
			return errors.New("it exists: resume it, or move it away")
		}
		header, err = j.reopen(lax)
	}
	if err != nil {
		return err
	}
	if header == nil { // the file is new, or its process was killed before the first record
		_, err = j.append(&Record{Kind: Header, Version: Version, Fingerprint: cfg.Fingerprint})
	} else {
		err = compare(header.Index, header.Fingerprint, cfg.Fingerprint)
	}
	if err == nil {
		_, err = j.append(&Record{Kind: Incarnation, Command: cfg.Command, Library: library()})
	}
	if err != nil {
		return errors.Join(err, j.log.Close())
	}
	return nil
}

// library returns the version of this module as the build knows it, "" if it does not.
func library() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == "github.com/evoalloc/evoalloc" {
				return m.Version
			}
		}
	}
	return ""
}

// reopen reads what earlier incarnations left and returns the header, or nil if the file has no sound line.
func (j *Journal) reopen(lax wal.Lax) (header *Record, err error) {
	var cut int64
	j.log, cut, err = lax.Open(j.path, func(e wal.Entry) error {
		r, err := j.read(e)
		if e.Index == 0 {
			// Before the second record, which may be of a kind that only another version knows.
			if header = r; err == nil && r.Kind != Header {
				err = fmt.Errorf("its first record is a %q: it is not a journal", r.Kind)
			} else if err == nil && r.Version != Version {
				err = fmt.Errorf("%w: it is %d, this library's %d", ErrVersion, r.Version, Version)
			}
		}
		return err
	})
	var damage *wal.DamageError
	switch {
	case errors.As(err, &damage):
		return nil, fmt.Errorf("%w; Salvage copies what is sound before it", err)
	case err != nil:
		return nil, err
	case cut > 0:
		slog.Warn("journal: cut the torn end", "journal", j.path, "bytes", cut)
	}
	return header, nil
}

// Path returns the file's name.
func (j *Journal) Path() string { return j.path }

// Err returns what ended the journal: [ErrWrite], [ErrDiverged], or nil.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.log.Err(); err != nil && j.err == nil {
		return j.unwritten(err)
	}
	return j.err
}

// Close syncs and closes the file and gives up the lock on it.
func (j *Journal) Close() error {
	if err := j.log.Close(); err != nil {
		return fmt.Errorf("journal: closing %s: %w", j.path, err)
	}
	return nil
}

// Use takes the journal for one run, until release is called. It fails with [ErrInUse] while another run has it. Two
// runs at once would mix their decisions in the file and could never be resumed. One after the other they can.
func (j *Journal) Use() (release func(), err error) {
	if !j.used.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("journal: %s: %w: give each run a journal of its own, or make them one after the other",
			j.path, ErrInUse)
	}
	return func() { j.used.Store(false) }, nil
}

// append writes a record. Records stand in the order of the calls. When append returns, the record is with the
// operating system: it survives a kill of the process, but not a loss of power.
func (j *Journal) append(r *Record) (wal.Place, error) {
	r.Time = time.Now().UnixMilli()
	j.wrote.Store(true)
	p, err := j.log.Append(r)
	return p, j.unwritten(err)
}

// sync returns when the record at p and all before it are on disk. Calls that wait at the same time share one sync,
// so many searches at once do not wait for each other's.
func (j *Journal) sync(p wal.Place) error { return j.unwritten(j.log.Sync(p)) }

// unwritten returns an error of the log as the journal's, nil if it is nil.
func (j *Journal) unwritten(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("journal: %w: %s: %w", ErrWrite, j.path, err)
}

// durable is append, and sync if that succeeds.
func (j *Journal) durable(r *Record) error {
	p, err := j.append(r)
	if err != nil {
		return err
	}
	return j.sync(p)
}

// at returns the record at p.
func (j *Journal) at(p wal.Place) (*Record, error) {
	object, err := j.log.Read(p)
	if err != nil {
		return nil, fmt.Errorf("journal: %s: %w", j.path, err)
	}
	return decode(object)
}
