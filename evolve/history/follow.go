package history

import (
	"context"
	"iter"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// Follow yields the run in the journal at path each time that all the file holds has been read, and then waits for
// more, until ctx ends. It takes no lock, so the run that writes the file is not disturbed, and it waits for a file
// that does not exist yet. Each iteration yields the same Run, which grows. Read it
// within the iteration, and do not change it.
//
// An error ends it, with what the Run was until then: the file was moved, deleted, replaced or cut, it is not a
// journal, or it is damaged before sound lines.
func Follow(ctx context.Context, path string) iter.Seq2[*Run, error] {
	return func(yield func(*Run, error) bool) {
		b := newBuilder()
		for r, err := range record.Follow(ctx, path) {
			switch {
			case err == nil && r.Kind != record.CaughtUp:
				b.Add(r)
				continue
			case err == nil && b.records == 0:
				continue
			}
			if !yield(b.run, err) {
				return
			}
		}
	}
}
