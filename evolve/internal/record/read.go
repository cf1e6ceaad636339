package record

import (
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
		for e, err := range Lines(path) {
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

// Lines reads the lines of the file.
func Lines(path string) iter.Seq2[wal.Entry, error] {
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
