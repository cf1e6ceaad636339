package journal

import (
	"fmt"
	"os"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/internal/wal"
)

// A Summary is whose run a journal is, and whether it is over.
type Summary struct {
	Begun       bool        // the file has a whole record
	Fingerprint Fingerprint // Config.Fingerprint of the process that made the file
	Command     string      // Config.Command of that process
	Run         Fingerprint // what evolve.Run was given by the run that was begun last, such as its policy
	Finished    bool        // that run is over
}

// Inspect returns a summary of the journal at path without opening it, so a run that goes on is not disturbed. The
// summary of a file whose first record is still being written is zero. If the file cannot be read or is damaged, err
// is not nil and the summary is of what stands before the damage. A file that is not a journal is damaged at its
// first line.
func Inspect(path string) (s Summary, err error) {
	for r, err := range record.Read(path) {
		switch {
		case err != nil:
			return s, err
		case !s.Begun && r.Kind != record.Header:
			return s, fmt.Errorf("journal: %s: its first record is a %q: it is not a journal", path, r.Kind)
		}
		s.Begun = true
		switch r.Kind {
		case record.Header:
			s.Fingerprint = r.Fingerprint
		case record.Incarnation:
			if r.Index == 1 {
				s.Command = r.Command
			}
		case record.Run:
			s.Run, s.Finished = r.Fingerprint, false
		case record.Draw, record.Report, record.Stop, record.Raise:
			s.Finished = r.Kind == record.Stop
		}
	}
	if !s.Begun {
		err = checkBeginning(path)
	}
	return s, err
}

// checkBeginning returns an error if the file at path, which has no whole record, cannot become a journal.
func checkBeginning(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = wal.CheckBeginning(f, info.Size())
	}
	if err != nil {
		return fmt.Errorf("journal: %s: %w", path, err)
	}
	return nil
}
