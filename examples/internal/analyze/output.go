package analyze

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// analysisFile is the name of the file of all figures in numbers.
const analysisFile = "analysis.json"

// print writes the report for a terminal.
func (r *report) print(w io.Writer) {
	for i, p := range r.Problems {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s, %s\n", p.Task, p.Model)
		for _, s := range p.Studies {
			s.print(w)
		}
		list(w, "compared at equal answered calls", p.words())
	}
	list(w, "not read", r.Skipped)
}

// words returns the comparisons in words, with a warning if there are several.
func (p *problem) words() []string {
	var words []string
	for _, c := range p.Comparisons {
		words = append(words, c.Words)
	}
	if len(words) > 1 {
		words = append(words, "each interval holds by itself: of twenty, one is wrong by chance")
	}
	return words
}

func (s *study) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %s, %s\n", s.Method, count(s.Runs, "run"), s.sizes())
	if s.sized() {
		s.pointsTable(w)
	} else {
		s.table(w)
	}
	s.surfaceTable(w)
	s.envelopeTable(w)
	list(w, "found", s.Found)
	list(w, "cannot be said yet", s.Open)
}

// sizes returns the sizes of generations and the number of seeds, in words.
func (s *study) sizes() string {
	if !s.sized() {
		return fmt.Sprintf("N = %s, at least %s of each", numbers(s.Breadths), count(s.Seeds, "seed"))
	}
	least, most, generations := math.MaxInt, 0, 0
	for _, f := range s.files {
		for _, n := range f.Answered[1:] {
			least, most = min(least, n), max(most, n)
			generations++
		}
	}
	return fmt.Sprintf("%s of %d to %d answered calls, %s", count(generations, "generation"), least, most,
		count(s.Seeds, "seed"))
}

// pointsTable writes the mean best scores by calls, for a search that decides its breadth.
func (s *study) pointsTable(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "answered calls\t")
	for _, p := range s.Points {
		fmt.Fprintf(t, "%d\t", p.Calls)
	}
	fmt.Fprint(t, "\nmean best\t")
	for _, p := range s.Points {
		fmt.Fprintf(t, "%.4f\t", p.Mean)
	}
	fmt.Fprintln(t)
	t.Flush()
}

// table writes the mean best scores by depth and breadth.
func (s *study) table(w io.Writer) {
	column := map[int]int{}
	var depths []int
	for _, c := range s.Cells {
		if _, known := column[c.T]; !known {
			column[c.T] = 0
			depths = append(depths, c.T)
		}
	}
	slices.Sort(depths)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "mean best\t")
	for i, depth := range depths {
		column[depth] = i
		fmt.Fprintf(t, "T=%d\t", depth)
	}
	for _, n := range s.Breadths {
		row := make([]string, len(depths))
		for _, c := range s.Cells {
			if c.N == n {
				row[column[c.T]] = strconv.FormatFloat(c.Mean, 'f', 4, 64)
			}
		}
		fmt.Fprintf(t, "\nN=%d\t", n)
		for len(row) > 0 && row[len(row)-1] == "" {
			row = row[:len(row)-1] // so that the line does not end in blanks
		}
		for _, mean := range row {
			fmt.Fprintf(t, "%s\t", mean)
		}
	}
	fmt.Fprintln(t)
	t.Flush()
}

// envelopeTable writes the best split of each budget: its mean, which is biased upwards by the choice, and the mean of
// splits chosen on half of the seeds and scored on the other half.
func (s *study) envelopeTable(w io.Writer) {
	if len(s.Envelope) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "at most C calls\tbest split\tits mean\ton other seeds\t")
	for _, e := range s.Envelope {
		fmt.Fprintf(t, "%d\tT=%d N=%d\t%.4f\t%.4f\t\n", e.Calls, e.Cell.T, e.Cell.N, e.Cell.Mean, e.Fair)
	}
	t.Flush()
}

// list writes lines, if any, under a heading.
func list(w io.Writer, heading string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "%s:\n", heading)
	for _, line := range lines {
		fmt.Fprintf(w, "  - %s\n", line)
	}
}

// save writes the files, replacing existing ones.
func (r *report) save(ctx context.Context, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, f := range r.figures {
		r.Figures = append(r.Figures, f.file())
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = removeFigures(folder)
	}
	if err != nil {
		return err
	}
	err = errors.Join(
		result.SaveFile(filepath.Join(folder, analysisFile), append(text, '\n')),
		writeCSV(filepath.Join(folder, "cells.csv"), r.cells()),
		writeCSV(filepath.Join(folder, "runs.csv"), r.runs()),
	)
	for _, f := range r.figures {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err = errors.Join(err, f.save(folder))
	}
	return err
}

// removeFigures removes the figures of an earlier analysis, which its file names, from the folder.
func removeFigures(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, analysisFile))
	var earlier struct {
		Figures []string `json:"figures"`
	}
	if err != nil || json.Unmarshal(text, &earlier) != nil {
		return nil // there is none, or one of another program
	}
	for _, name := range earlier.Figures {
		if name != filepath.Base(name) || !slices.Contains([]string{".svg", ".png"}, filepath.Ext(name)) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func writeCSV(path string, rows [][]string) error {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	return result.SaveFile(path, b.Bytes())
}

// cells returns a row for each cell of each method, or for each budget if the method decides its breadth.
func (r *report) cells() [][]string {
	rows := [][]string{{"task", "model", "method", "T", "N", "C", "searches", "answered", "mean", "log_gap", "floored",
		"above_ceiling"}}
	for _, p := range r.Problems {
		for _, s := range p.Studies {
			for _, c := range s.Cells {
				rows = append(rows,
					[]string{name(p.Task), name(p.Model), name(s.Method), text(c.T), text(c.N), text(c.Calls()), text(c.Searches),
						text(c.Answered), text(c.Mean), text(c.Gap), text(c.Floored), text(c.Above)})
			}
			for _, at := range s.Points {
				rows = append(rows, []string{name(p.Task), name(p.Model), name(s.Method), "", "", text(at.Calls), text(at.Runs),
					text(at.Calls), text(at.Mean), "", "", ""})
			}
		}
	}
	return rows
}

// runs returns a row for each run.
func (r *report) runs() [][]string {
	rows := [][]string{{"task", "model", "method", "T", "N", "C", "seed", "generations", "answered", "start", "final",
		"stop", "file"}}
	for _, p := range r.Problems {
		for _, s := range p.Studies {
			for _, f := range s.files {
				rows = append(rows, []string{name(p.Task), name(p.Model), name(s.Method), text(f.T), text(f.N), text(f.Calls()),
					text(f.Curve.Seed), text(f.Generations()),
					text(f.AnsweredBy(f.Generations())), text(f.Best[0]), text(f.Final()), name(f.Stop),
					name(filepath.ToSlash(f.From))})
			}
		}
	}
	return rows
}

// numbers returns a list: "2, 4, 8".
func numbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}

func text(v any) string { return fmt.Sprint(v) }

// name returns arbitrary text of a result file as a field of a CSV file.
func name(s string) string { return printable.Field(s) }
