package sweep

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/evoalloc/evoalloc/internal/atomicfile"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// columns are those of runs.csv, in their order. docs/reference.md describes them.
var columns = []string{"task", "model", "method", "N", "arms", "T", "seed", "generation", "arm", "children", "valid",
	"score", "best",
	"calls", "attempts", "evaluations", "prompt_tokens", "cached_tokens", "completion_tokens", "flops", "cost", "seconds",
	"partial",
	"stop", "limit", "made_again"}

// writeCSV writes runs.csv in dir: a row for each generation of the runs that were read and of each finished run of the
// plan, in the plan's order. It replaces the file as a whole, and holds one run at a time in memory.
func (p Plan) writeCSV(dir string, read []foreign) error {
	err := atomicfile.Write(filepath.Join(dir, "runs.csv"), func(w io.Writer) error { return p.writeRows(w, dir, read) })
	if err != nil {
		return fmt.Errorf("sweep: writing runs.csv: %w", err)
	}
	return nil
}

func (p Plan) writeRows(to io.Writer, dir string, read []foreign) error {
	b := bufio.NewWriter(to)
	w := csv.NewWriter(b)
	if err := w.Write(columns); err != nil {
		return err
	}
	for _, f := range read {
		if err := f.writeTo(w, f.finished()); err != nil {
			return err
		}
	}
	for _, r := range p.Runs() {
		f, err := readFinished(filepath.Join(dir, r.Path(".done")), r, p.fingerprint(r))
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		if err := r.writeTo(w, f); err != nil {
			return err
		}
	}
	w.Flush()
	return errors.Join(w.Error(), b.Flush())
}

// writeTo writes the rows of a run.
func (r Trial) writeTo(w *csv.Writer, f *finished) error {
	for _, row := range f.Rows {
		if err := w.Write(r.record(f, row)); err != nil {
			return err
		}
	}
	return nil
}

// record returns the fields of a row, by columns.
func (r Trial) record(f *finished, of row) []string {
	n, x := strconv.Itoa, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	text := printable.Field // names may come from a file that was read
	fields := []string{text(r.Task), text(r.Model), text(r.Method), n(r.N), n(r.Arms), n(r.T),
		strconv.FormatUint(uint64(r.Seed), 10), n(of.Generation), n(of.Arm),
		n(of.Children), n(of.Valid), x(of.Score), x(of.Best), n(of.Calls), n(of.Attempts), n(of.Evaluations), n(of.Prompt),
		n(of.Cached),
		n(of.Completion), x(of.FLOPs), x(of.Cost), x(of.Seconds), strconv.FormatBool(of.Partial), text(string(f.Stop)),
		f.Limit,
		n(f.Again)}
	for i, name := range columns {
		if f.read && !slices.Contains(known, name) {
			fields[i] = ""
		}
	}
	return fields
}
