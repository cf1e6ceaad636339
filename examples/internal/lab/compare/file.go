package compare

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/duel"
)

// A runsFile has a row for each run. Without a path it keeps nothing.
type runsFile struct {
	budget duel.Budget
	known  []compare.Run // of the study, that the file had
	there  map[place]bool
	file   *os.File
}

// A place is that of a run in a study.
type place struct {
	family, search string
	seed           uint64
}

// openRuns opens the file of a study, and lets the study skip the runs that it has. What a killed program left of a
// last row is cut off.
func openRuns(path string, b duel.Budget, cfg compare.Config) (*runsFile, error) {
	f := &runsFile{budget: b, there: map[place]bool{}}
	if path == "" {
		return f, nil
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Usagef("--out: %w", err)
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	if err := f.read(data, cfg); err != nil {
		return nil, cli.Usagef("--out: %s: %w", path, err)
	}
	if f.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return nil, cli.Usagef("--out: %w", err)
	}
	if err := errors.Join(f.file.Truncate(int64(len(data))), seekEnd(f.file)); err != nil {
		return nil, errors.Join(err, f.close())
	}
	if len(data) == 0 {
		return f, f.row(duel.Columns())
	}
	return f, nil
}

func seekEnd(f *os.File) error {
	_, err := f.Seek(0, 2)
	return err
}

// read takes the runs of the study from the file's text. Runs with another budget, and of other searches, stay in the
// file and are left alone.
func (f *runsFile) read(data []byte, cfg compare.Config) error {
	lines, err := duel.Read(data)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if l.Budget == f.budget && plays(cfg, l.Run) {
			f.known = append(f.known, l.Run)
			f.there[place{l.Family, l.Search, l.Seed}] = true
		}
	}
	return nil
}

// plays reports whether a run is one of the study's.
func plays(cfg compare.Config, r compare.Run) bool {
	return slices.Contains(names(cfg.Families), r.Family) && slices.Contains(names(cfg.Searches), r.Search) &&
		r.Seed-cfg.Seed < uint64(cfg.Runs)
}

// has reports whether the file had a run when it was opened.
func (f *runsFile) has(family, search string, seed uint64) bool {
	return f.there[place{family, search, seed}]
}

// write adds a run.
func (f *runsFile) write(r compare.Run) error { return f.row(duel.Row(f.budget, r)) }

// row adds a row in one write, so that a program that is killed leaves whole rows but for the last.
func (f *runsFile) row(fields []string) error {
	if f.file == nil {
		return nil
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(fields); err != nil {
		return err
	}
	w.Flush()
	_, err := f.file.Write(b.Bytes())
	return err
}

func (f *runsFile) close() error {
	if f.file == nil {
		return nil
	}
	file := f.file
	f.file = nil
	return file.Close()
}
