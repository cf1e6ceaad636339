package record

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/evoalloc/evoalloc/internal/wal"
)

// Lines reads the lines of the file.
func Lines(path string) iter.Seq2[wal.Entry, error] {
	return func(yield func(wal.Entry, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(wal.Entry{}, err)
			return
		}
		defer f.Close()
		wal.Scan(f)(yield)
	}
}

// Read reads the records of a finished or running journal in order. It takes no lock, so a tool can read the journal
// of a run that goes on. It stops at a torn end, which may be a line that is being written. Damage before sound lines
// is an error that names the line.
func Read(path string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for e, err := range Lines(path) {
			r := new(Record)
			if err == nil {
				r, err = decode(e.Object)
			}
			if err != nil {
				yield(Record{}, fmt.Errorf("journal: %s: %w", path, err))
				return
			}
			if !yield(*r, nil) {
				return
			}
		}
	}
}

// CaughtUp is the kind of a record that stands in no file: [Follow] gives it whenever it has read all that the file
// holds.
const CaughtUp Kind = "caught up"

// followEvery is how often Follow looks whether there is more. A look asks for the length of the file and what has
// its name.
const followEvery = 50 * time.Millisecond

// Follow reads the records of a journal in order, as [Read] does, and goes on as the file grows, until ctx ends. Any
// process may write the file, and a run is not disturbed: Follow takes no lock.
//
// It gives a record of the kind [CaughtUp], with no other field, each time it has read all that the file holds. Then
// it waits for more. What it gave before that is what Read gives.
//
// It waits for a file that does not exist yet, and for the rest of a torn line at the end. If the process that wrote
// the torn line was killed, the run that goes on writes over it, and Follow gives what stands there then.
//
// An error ends it: the file was moved, deleted or replaced (what was written until then is read first), it was cut
// below what was read, it is not a journal, or it is damaged before sound lines.
func Follow(ctx context.Context, path string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		f := follower{path: path}
		defer f.close()
		for caughtUp := false; ctx.Err() == nil; {
			for r, err := range f.more {
				if err != nil {
					yield(Record{}, fmt.Errorf("journal: %s: %w", path, err))
					return
				}
				if caughtUp = false; ctx.Err() != nil || !yield(r, nil) {
					return
				}
			}
			if !caughtUp && !yield(Record{Kind: CaughtUp}, nil) {
				return
			}
			caughtUp = true
			select {
			case <-time.After(followEvery):
			case <-ctx.Done():
			}
		}
	}
}

// A follower is how far a growing file has been read.
type follower struct {
	path string
	file *os.File // nil until there is one
	r    *bufio.Reader
	next int   // number of the line that comes next
	end  int64 // where that begins: all before it is sound, and no run writes over it

	times int // readings in a row that found damage at end
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
	}
}

// more gives the records that the file has now and that were not given yet.
func (f *follower) more(yield func(Record, error) bool) {
	if f.file == nil {
		var err error
		if f.file, err = os.Open(f.path); err != nil {
			f.file = nil
			if !errors.Is(err, fs.ErrNotExist) {
				yield(Record{}, err)
			}
			return
		}
		f.r = bufio.NewReaderSize(f.file, wal.BufferSize)
	}
	gone := f.gone() // looked at before the rest is read, so that nothing that was written before it is missed
	if ok, err := f.read(yield); ok && errors.Join(err, gone) != nil {
		yield(Record{}, errors.Join(err, gone))
	}
}

// gone returns an error if the file does not have its name any more.
func (f *follower) gone() error {
	named, err := os.Stat(f.path)
	mine, bad := f.file.Stat()
	if err = errors.Join(err, bad); err == nil && !os.SameFile(named, mine) {
		err = errors.New("another file has its name")
	}
	if err != nil {
		return fmt.Errorf("it was moved, deleted or replaced while it was followed: %w", err)
	}
	return nil
}

// read gives the records from where the last reading ended. It reports false if yield wants no more.
//
// It begins behind the last sound line and not where the file ended then: what stood in between was torn, and may be
// another line now.
func (f *follower) read(yield func(Record, error) bool) (ok bool, err error) {
	info, err := f.file.Stat()
	if err != nil {
		return true, err
	}
	size := info.Size()
	if size < f.end {
		return true, fmt.Errorf("it was cut to %d bytes while it was followed, below the %d that were read", size, f.end)
	}
	if size == f.end {
		return true, nil
	}
	f.r.Reset(io.NewSectionReader(f.file, f.end, size-f.end))
	for e, bad := range wal.ScanFrom(f.r, f.next, f.end) {
		if bad != nil {
			return true, f.damage(bad)
		}
		f.next, f.end, f.times = e.Index+1, e.Place.Offset+int64(e.Place.Length), 0
		r, err := decode(e.Object)
		if err != nil {
			return true, err
		}
		if !yield(*r, nil) {
			return false, nil
		}
	}
	if f.end == 0 {
		if bad := wal.CheckBeginning(f.file, size); bad != nil {
			return true, f.damage(bad)
		}
	}
	f.times = 0
	return true, nil
}

// damage returns err if it is there to stay. A reading may find a part of a torn line and a part of what a run writes
// over it, or the end of the file where a run has just cut the torn first line off. The next one does not.
func (f *follower) damage(err error) error {
	var damage *wal.DamageError
	passing := errors.As(err, &damage) || errors.Is(err, wal.ErrNotLog) || errors.Is(err, io.EOF)
	if f.times++; passing && f.times < 3 {
		return nil
	}
	return err
}
