package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/result"
)

// A finished is the marker of a finished run, the file NAME.done. It is written after the result, as a whole and
// synced, so a run that has one is never made again. The fingerprint identifies the run.
type finished struct {
	Fingerprint journal.Fingerprint `json:"fingerprint"`
	Stop        evolve.Stop         `json:"stop"`
	Limit       string              `json:"limit,omitempty"`
	// Again is the number of calls of earlier incarnations that were lost or abandoned, and made again. They are in no
	// row.
	Again int   `json:"made_again"`
	Rows  []row `json:"rows"`

	read bool // from a result file, which has few fields of rows
}

// course returns the rows of a cell, the last of which has its score, and reports whether the run has them. If a run
// contains shorter ones, they are the first T generations; otherwise the run is one cell.
func (f *finished) course(c Cell, contains bool) (rows []row, ok bool) {
	n := len(f.Rows)
	if contains {
		n = c.T + 1
	}
	if n < 1 || n > len(f.Rows) {
		return nil, false
	}
	return f.Rows[:n], true
}

// ErrOther means that the folder holds a run of the same name with other settings. Reusing it would mix two sweeps in
// one table.
var ErrOther = errors.New("sweep: the folder has another sweep")

// readFinished returns the marker of r, or nil if there is none. It fails if the marker has another fingerprint.
func readFinished(path string, r Trial, want journal.Fingerprint) (*finished, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	var f finished
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("sweep: %s is not the marker of a finished run: %w: remove it to resume the run from its "+
			"journal", path, err)
	}
	if len(f.Rows) == 0 {
		return nil, fmt.Errorf("sweep: %s has no rows: remove it to resume the run from its journal", path)
	}
	if err := same(f.Fingerprint, want); err != nil {
		return nil, fmt.Errorf("%w: run %s: %w; restore the settings, or sweep in another folder", ErrOther, r, err)
	}
	return &f, nil
}

// same returns an error that names the first field in which two fingerprints differ.
func same(then, now journal.Fingerprint) error {
	now = fitted(then, now)
	all := maps.Clone(then)
	maps.Copy(all, now)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if then[name] != now[name] {
			return fmt.Errorf("its %s is %q, that of the plan %q", name, then[name], now[name])
		}
	}
	return nil
}

// write makes the marker durable.
func (f *finished) write(path string) error {
	if err := result.Save(path, f); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}
