// Package wal is an append-only file of JSON objects, one a line, that survives a kill at any
// instant: each line carries its number and a checksum, a torn tail is cut when the file is opened,
// and damage anywhere else is reported, never skipped.
//
// A line is the object with two fields more, its number first and the CRC-32C (Castagnoli) of all
// that stands before it last:
//
//	{"i":17,"kind":"draw","arm":3,"crc":"89abcdef"}
//
// so that jq and pandas read the file as it is. By the number a line that is missing or is there twice is
// noticed, although each line is sound by itself.
package wal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrNotLog is returned for a file that holds something else, which must not be cut.
var ErrNotLog = errors.New("no line in it can be read: it is not a log, or damaged as a whole")

// ErrLocked is returned when another process has the file open.
var ErrLocked = errors.New("another process has it open")

// ErrUnsafe is returned where the file system has no locks or cannot be told to put a file on disk.
var ErrUnsafe = errors.New("the file system cannot lock files, or put them on disk")

// Lax makes and opens logs also where there are no locks and where nothing says that a file is on disk, if it is true.
// Two processes may then damage a log, and the death of the machine may lose its end.
type Lax bool

// unsafe returns err as ErrUnsafe if it says that something is not supported, and nil of that if lax.
func (lax Lax) unsafe(err error) error {
	for _, no := range []error{errors.ErrUnsupported, syscall.EINVAL, noLocks} {
		if errors.Is(err, no) {
			if lax {
				return nil
			}
			return fmt.Errorf("%w: %w", ErrUnsafe, err)
		}
	}
	return err
}

// A Log is a file open for appending. It is safe for concurrent use.
type Log struct {
	f      *os.File
	path   string // absolute, so that the process may change its folder
	lax    Lax
	unlock func() error

	mu   sync.Mutex // guards the file's end
	next int        // number of the next line
	end  int64      // where it will begin
	line []byte     // scratch
	err  error      // what ended appending; it stays

	sync    sync.Mutex // guards what follows
	idle    *sync.Cond // signaled when a sync ends
	syncing bool
	synced  int64 // everything before is on disk
	syncErr error
	syncs   int

	block block
}

// A Place is where a line stands, to read it again.
type Place struct {
	Offset int64
	Length int
}

// Create makes the file, which must not exist, locks it, and makes its name durable.
func Create(path string) (*Log, error) { return Lax(false).Create(path) }

// Open is [Lax.Open] of logs that keep all promises.
func Open(path string, each func(Entry) error) (l *Log, cut int64, err error) {
	return Lax(false).Open(path, each)
}

// Create is the function Create, as far as the file system goes.
func (lax Lax) Create(path string) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	l, err := newLog(f, path, lax)
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	err = l.settle()
	if err == nil {
		err = lax.unsafe(syncDir(filepath.Dir(path)))
	}
	if err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(path))
	}
	return l, nil
}

// Open locks an existing file, calls each for every sound line in order, cuts a torn tail, and is ready to
// append after the last sound line. cut is how many bytes it cut. If each returns an error, Open returns it.
// The error is a [*DamageError] for damage, and [ErrNotLog] for a file without a sound line that is more than a
// torn first one. After an error the file is left as it is: it may be somebody's, or be repaired.
func (lax Lax) Open(path string, each func(Entry) error) (l *Log, cut int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, 0, err
	}
	if l, err = newLog(f, path, lax); err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	if cut, err = l.recover(each); err != nil {
		return nil, 0, errors.Join(err, l.Close())
	}
	return l, cut, nil
}

// InUse reports whether a process, this one or another, has the log at path open for appending. A file that does not
// exist is not in use. It never keeps another process from opening the log.
func InUse(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	return held(f, path)
}

func newLog(f *os.File, path string, lax Lax) (*Log, error) {
	unlock, err := lock(f, path)
	if err = lax.unsafe(err); err != nil {
		return nil, err
	}
	l := &Log{f: f, path: path, unlock: unlock, lax: lax}
	if absolute, err := filepath.Abs(path); err == nil {
		l.path = absolute
	}
	l.idle = sync.NewCond(&l.sync)
	return l, nil
}

// recover reads the lines and cuts the tail.
func (l *Log) recover(each func(Entry) error) (cut int64, err error) {
	size, err := l.f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	for e, err := range Scan(io.NewSectionReader(l.f, 0, size)) {
		if err != nil {
			return 0, err
		}
		if err := each(e); err != nil {
			return 0, err
		}
		l.next, l.end = e.Index+1, e.Place.Offset+int64(e.Place.Length)
	}
	if l.end == 0 {
		if err := CheckBeginning(l.f, size); err != nil {
			return 0, err
		}
	}
	if l.end < size {
		if err := l.f.Truncate(l.end); err != nil {
			return 0, err
		}
	}
	if err := l.settle(); err != nil { // also of lines that a killed process left to the system
		return 0, err
	}
	l.synced = l.end
	return size - l.end, nil
}

// CheckBeginning returns [ErrNotLog] if f, of so many bytes and without a sound line, cannot be what a kill leaves of
// a new log, the beginning of the first line. Zeros from the start may be a log that a disk has lost.
func CheckBeginning(f io.ReaderAt, size int64) error {
	r := bufio.NewReader(io.NewSectionReader(f, 0, size))
	start, err := r.Peek(int(min(size, int64(len(first)))))
	if err != nil {
		return err
	}
	torn := string(start) == first[:len(start)]
	for {
		switch c, err := r.ReadByte(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !torn || c == '\n':
			return ErrNotLog
		}
	}
}

// first is what the first line begins with.
const first = head + "0,"

// Append writes v, which must encode to a JSON object with at least one field, as the next line, and
// returns its place. The line is with the operating system when Append returns, so that it survives
// the death of the process; [Log.Sync] makes it survive the death of the machine. After an error
// nothing more is written and every later Append returns it too. It is [ErrGone] if somebody else has cut or
// written the file.
func (l *Log) Append(v any) (Place, error) {
	object, err := json.Marshal(v)
	if err != nil {
		return Place{}, err
	}
	if len(object) < 3 || object[0] != '{' {
		return Place{}, fmt.Errorf("not a JSON object with a field: %.40s", object)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return Place{}, l.err
	}
	if l.err = l.unchanged(); l.err != nil {
		return Place{}, l.err
	}
	l.line = frame(l.line[:0], l.next, object)
	if _, err := l.f.WriteAt(l.line, l.end); err != nil {
		l.err = err
		// Best effort: the tail is torn otherwise, and cut at the next opening.
		_ = l.f.Truncate(l.end)
		return Place{}, err
	}
	p := Place{l.end, len(l.line)}
	l.next++
	l.end += int64(len(l.line))
	return p, nil
}

// frame appends object as line i.
func frame(line []byte, i int, object []byte) []byte {
	line = append(line, `{"i":`...)
	line = strconv.AppendInt(line, int64(i), 10)
	line = append(line, ',')
	line = append(line, object[1:len(object)-1]...)
	sum := crc32.Checksum(line, castagnoli)
	return fmt.Appendf(line, `,"crc":"%08x"}`+"\n", sum)
}

// Sync returns when the line at p and all before it are on disk. Callers that come while a sync is
// under way share the next one. After an error every later Sync and Append returns it too: what the
// disk holds is not known any more. It is [ErrGone] if the file was moved, deleted or cut.
func (l *Log) Sync(p Place) error {
	want := p.Offset + int64(p.Length)
	l.sync.Lock()
	defer l.sync.Unlock()
	for l.synced < want && l.syncErr == nil {
		if l.syncing {
			l.idle.Wait()
			continue
		}
		l.syncing = true
		l.sync.Unlock()
		end, err := l.flush()
		l.sync.Lock()
		l.syncing, l.syncErr = false, err
		l.syncs++
		if err == nil {
			l.synced = end
		}
		l.idle.Broadcast()
	}
	return l.syncErr
}

// settle puts what the system has of the file on disk.
func (l *Log) settle() error { return l.lax.unsafe(datasync(l.f)) }

// flush syncs all that was appended until now and returns where that ends.
func (l *Log) flush() (int64, error) {
	l.mu.Lock()
	end, err := l.end, l.err
	l.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if err = l.settle(); err == nil {
		err = l.there(end)
	}
	if err != nil {
		l.mu.Lock()
		l.err = err
		l.mu.Unlock()
		return 0, err
	}
	return end, nil
}

// Read returns the object at p, as it was appended but for its number.
func (l *Log) Read(p Place) ([]byte, error) {
	line := make([]byte, p.Length)
	l.mu.Lock()
	end := l.end
	l.mu.Unlock()
	if !l.block.holds(l.f, end, line, p.Offset) {
		if _, err := l.f.ReadAt(line, p.Offset); err != nil {
			return nil, err
		}
	}
	e, ok := parse(line)
	if !ok {
		return nil, fmt.Errorf("the line at byte %d is not what it was", p.Offset)
	}
	return e.Object, nil
}

// Err returns what ended appending, if anything did.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close syncs what was appended and closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	end, broken := l.end, l.err != nil
	l.mu.Unlock()
	var err error
	if !broken {
		err = l.Sync(Place{Offset: end})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(l.err, os.ErrClosed) {
		return nil
	}
	if l.err == nil {
		l.err = os.ErrClosed
	}
	return errors.Join(err, l.unlock(), l.f.Close())
}
