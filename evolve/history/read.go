package history

import (
	"context"
	"fmt"
	"iter"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// Read returns what the journal at path tells of its run, which may be over, was killed, or goes on. If the journal is
// damaged, the Run is what stands before that, and err is not nil.
func Read(path string) (*Run, error) { return read(path, func(record.Record) {}) }

// read reads as Read does, and calls each with every record.
func read(path string, each func(record.Record)) (*Run, error) {
	b := newBuilder()
	for r, err := range record.Read(path) {
		switch {
		case err != nil && b.records == 0:
			return nil, fmt.Errorf("history: %w", err)
		case err != nil:
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

// Follow yields the run in the journal at path each time that all the file holds has been read, and then waits for
// more, until ctx ends. It takes no lock, so the run that writes the file is not disturbed, and it waits for a file
// that does not exist yet. Each iteration yields the same Run, which grows. Read it within the iteration, and do not
// change it.
//
// An error ends it, with what the Run was until then: the file was moved, deleted, replaced or cut, it is not a
// journal, or it is damaged before sound lines.
func Follow(ctx context.Context, path string) iter.Seq2[*Run, error] {
	return func(yield func(*Run, error) bool) {
		b := newBuilder()
		for r, err := range record.Follow(ctx, path) {
			if err == nil && r.Kind != record.CaughtUp {
				b.Add(r)
			} else if (err != nil || b.records > 0) && !yield(b.run, err) {
				return
			}
		}
	}
}
