package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// A budget is what the runs of a study have alike.
type budget struct {
	calls int
	flops bool
}

func (b budget) fields() []string {
	if b.flops {
		return []string{strconv.Itoa(b.calls), "flops"}
	}
	return []string{strconv.Itoa(b.calls), "calls"}
}

// columns of the file. points has the calls, the FLOPs and the true score from there on, of each change.
var columns = []string{"family", "search", "seed", "budget", "equal", "calls", "evaluations", "flops", "score", "claimed", "points"}

// A runsFile has a row for each run. Without a path it keeps nothing.
type runsFile struct {
	budget budget
	known  []compare.Run // of the study, that the file had
	file   *os.File
}

// openRuns opens the file of a study, and lets the study skip the runs that it has. What a killed program left of a last
// row is cut off.
func openRuns(path string, b budget, cfg compare.Config) (*runsFile, error) {
	f := &runsFile{budget: b}
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
		return f, f.row(columns)
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
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) == 0 {
		return err
	}
	if !slices.Equal(rows[0], columns) {
		return fmt.Errorf("it begins with %q: need a file that this program made", strings.Join(rows[0], ","))
	}
	for i, row := range rows[1:] {
		r, err := parseRun(row)
		if err != nil {
			return fmt.Errorf("row %d: %w", i+2, err)
		}
		if slices.Equal(row[3:5], f.budget.fields()) && plays(cfg, r) {
			f.known = append(f.known, r)
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
	return slices.ContainsFunc(f.known, func(r compare.Run) bool {
		return r.Family == family && r.Search == search && r.Seed == seed
	})
}

// write adds a run.
func (f *runsFile) write(r compare.Run) error {
	var points []string
	for _, p := range r.Points {
		points = append(points, fmt.Sprintf("%d %v %v", p.Calls, p.FLOPs, p.Score))
	}
	row := append([]string{r.Family, r.Search, fmt.Sprint(r.Seed)}, f.budget.fields()...)
	return f.row(append(row, fmt.Sprint(r.Calls), fmt.Sprint(r.Evaluations), fmt.Sprint(r.FLOPs), fmt.Sprint(r.Score), fmt.Sprint(r.Claimed), strings.Join(points, ";")))
}

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

// parseRun reads what write wrote.
func parseRun(row []string) (compare.Run, error) {
	r := compare.Run{Family: row[0], Search: row[1]}
	var errs [6]error
	r.Seed, errs[0] = strconv.ParseUint(row[2], 10, 64)
	r.Calls, errs[1] = strconv.Atoi(row[5])
	r.Evaluations, errs[2] = strconv.Atoi(row[6])
	r.FLOPs, errs[3] = strconv.ParseFloat(row[7], 64)
	r.Score, errs[4] = strconv.ParseFloat(row[8], 64)
	r.Claimed, errs[5] = strconv.ParseFloat(row[9], 64)
	err := errors.Join(errs[:]...)
	for text := range strings.SplitSeq(row[10], ";") {
		var p compare.Point
		if text == "" {
			continue
		}
		if _, bad := fmt.Sscan(text, &p.Calls, &p.FLOPs, &p.Score); bad != nil {
			err = errors.Join(err, fmt.Errorf("point %q: %w", text, bad))
		}
		r.Points = append(r.Points, p)
	}
	return r, err
}
