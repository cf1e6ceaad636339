package lineage

import (
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// Read reads the runs of the journal at path, in the order of the file. It takes no lock, so the run may go on. A child
// is in the file once its search has taken it in.
//
// The texts of all distinct programs are in memory afterwards.
func Read(path string) ([]*Run, error) {
	f := &file{texts: make(map[string]string), reasons: make(map[string]string)}
	for r, err := range journal.Read(path) {
		if err == nil {
			err = f.take(r)
		}
		if err != nil {
			return nil, fmt.Errorf("lineage: %w", err)
		}
	}
	if f.header == nil {
		return nil, fmt.Errorf("lineage: %s has no whole record: it is not a journal, or was only just begun", path)
	}
	runs := make([]*Run, len(f.runs))
	for i, r := range f.runs {
		runs[i] = f.run(r)
	}
	return runs, nil
}

// A file is what was read of a journal.
type file struct {
	header  *journal.Record
	texts   map[string]string // of programs, by key; all runs of the file share them
	reasons map[string]string // why programs are invalid, by key
	runs    []*records
}

// take takes in the next record.
func (f *file) take(r journal.Record) error {
	switch r.Kind {
	case journal.Header:
		if r.Version != journal.Version {
			return fmt.Errorf("%w: it has version %d, and this program reads %d", journal.ErrVersion, r.Version, journal.Version)
		}
		f.header = &r
	case journal.Run:
		f.runs = append(f.runs, newRecords(r.Fingerprint))
	case journal.Program:
		f.texts[r.Key] = r.Text
		// A program that differs from an earlier one in white space at the end is not evaluated again, and so has no
		// record in journals of earlier versions. What a model repeats of a program mostly lacks the end of the last line.
		if bare := strings.TrimRight(r.Text, " \t\r\n"); bare != r.Text && bare != "" {
			f.texts[journal.KeyOf(bare).String()] = bare
		}
	case journal.Evaluation:
		if _, known := f.reasons[r.Program]; !known && !r.Result.Valid {
			f.reasons[r.Program] = r.Result.Reason
		}
	}
	if len(f.runs) == 0 {
		return nil
	}
	return f.runs[len(f.runs)-1].take(r)
}
