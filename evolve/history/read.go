package history

import (
	"fmt"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// Read returns what the journal at path tells of its run, which may be over, was killed, or goes on. If the journal is
// damaged, the Run is what stands before that, and err is not nil.
func Read(path string) (*Run, error) { return read(path, func(record.Record) {}) }

// read reads as Read does, and calls each with every record.
func read(path string, each func(record.Record)) (*Run, error) {
	b := newBuilder()
	for r, err := range record.Read(path) {
		if err != nil && b.records == 0 {
			return nil, fmt.Errorf("history: %w", err)
		}
		if err != nil {
			return b.run, err
		}
		b.Add(r)
		each(r)
	}
	if b.records == 0 {
		return nil, fmt.Errorf("history: %s has no whole record: it is not a journal, or was only just begun", path)
	}
	return b.run, nil
}
