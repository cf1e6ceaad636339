package journal

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/evoalloc/evoalloc/internal/wal"
)

// Read reads the records of a finished or running journal in order. It takes no lock, so a tool can read the
// journal of a run that goes on. It stops at a torn end, which may be a line that is being written. Damage
// before sound lines is an error that names the line.
func Read(path string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for e, err := range entries(path) {
			var r *Record
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

// entries reads the lines of the file.
func entries(path string) iter.Seq2[wal.Entry, error] {
	return func(yield func(wal.Entry, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(wal.Entry{}, err)
			return
		}
		defer f.Close()
		for e, err := range wal.Scan(f) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// Salvage copies the sound part of a damaged journal, up to the first damaged line, to a new file, from which
// the run can be resumed. It returns how many records it copied, and the damage at which it stopped, or nil if
// there was none. What stood after the damage is lost to the run, which asks for it again.
//
// Lines after the damage are not copied even if they are sound, because they may follow from what is gone. The
// damaged file is left as it is.
func Salvage(from, to string) (records int, damage error, err error) {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, nil, fmt.Errorf("journal: salvaging %s: %w", from, err)
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			os.Remove(to) // err says what matters
		}
	}()
	w := bufio.NewWriter(out)
	for e, bad := range entries(from) {
		if bad != nil {
			damage = bad
			break
		}
		if err := e.Copy(w); err != nil {
			return records, nil, fmt.Errorf("journal: salvaging %s: %w", from, err)
		}
		records++
	}
	var torn *wal.DamageError
	if damage != nil && !errors.As(damage, &torn) {
		return records, nil, fmt.Errorf("journal: salvaging %s: %w", from, damage)
	}
	if err := errors.Join(w.Flush(), out.Sync()); err != nil {
		return records, damage, fmt.Errorf("journal: salvaging %s: %w", from, err)
	}
	return records, damage, nil
}
