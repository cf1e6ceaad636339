package view

import (
	"context"
	"fmt"
	"os"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A Run is what a page shows of one run. [ReadJournal] and [ReadResult] return one.
type Run struct {
	Name string // of its tab

	state runState
}

// ReadJournal returns what the journal at path tells of a run, with programs. A run that no process works on and that
// has no end is shown as stopped. If the journal is damaged, the Run is what stands before that, and err is not nil; it
// is the zero Run if nothing does.
func ReadJournal(ctx context.Context, path, name string) (Run, error) {
	log := newLog("", name)
	log.SetSource(journalTexts(path))
	if live, err := journal.InUse(path); err == nil {
		log.SetLive(live)
	}
	records := 0
	for r, err := range journal.Read(path) {
		switch {
		case ctx.Err() != nil:
			return Run{}, ctx.Err()
		case err != nil && records == 0:
			return Run{}, err
		case err != nil:
			return Run{Name: name, state: log.Saved()}, err
		}
		log.Add(r)
		records++
	}
	if records == 0 {
		return Run{}, fmt.Errorf("view: %s has no record", path)
	}
	return Run{Name: name, state: log.Saved()}, nil
}

// ReadResult returns what the result file at path tells of a run: a file of evolve/report, of one search or of a bandit
// over several. Such a file has no programs, so the page has neither their texts nor their diffs, and says that name with
// the ending .journal has them.
//
// The file does not say when what ended, only how long each generation took. Those of searches that were in flight at
// once are shown one after the other.
func ReadResult(path, name string) (Run, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Run{}, fmt.Errorf("view: %w", err)
	}
	s, err := fromResult("", name, data)
	if err != nil {
		return Run{}, fmt.Errorf("view: %s: %w", path, err)
	}
	return Run{Name: name, state: s}, nil
}
