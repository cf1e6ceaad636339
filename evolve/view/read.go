package view

import (
	"context"
	"fmt"
	"os"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A Run is the data of one run for a page. [ReadJournal] and [ReadResult] return one.
type Run struct {
	Name string // of its tab

	state runState
}

// ReadJournal returns the run in the journal at path, with programs. A run without an end that no process works on is
// shown as stopped. If the journal is damaged, err is not nil and the Run holds what precedes the damage; it is zero if
// nothing does.
//
// Folders are those that programs may be changes of, as those of package tree are. Without a program's folder the
// report shows a file that a program changes as a whole, since a journal has no other text of it.
func ReadJournal(ctx context.Context, path, name string, folders ...string) (Run, error) {
	log := newLog("", name)
	var err error
	if log.shown.bases, err = readBases(folders); err != nil {
		return Run{}, err
	}
	log.SetSource(journalTexts(path))
	if live, err := journal.InUse(path); err == nil {
		log.SetLive(live)
	}
	records := 0
	for r, err := range record.Read(path) {
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

// ReadResult returns the run in the result file at path: a file of package result, of one search or of a bandit over
// several. Such a file has no programs, so the page has neither texts nor diffs, and refers to the file name with the
// ending .journal.
//
// The file only has the duration of each generation, not its time. Generations of searches in flight at once are shown
// one after the other.
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
