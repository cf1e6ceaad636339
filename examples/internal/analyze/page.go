package analyze

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/evolve/view"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// Studies returns what the results in a folder say, for a page: a study for each task and model, with its figures. The
// options are the defaults of the command analyze, but that runs that stopped early count as far as they go, which a
// warning names.
func Studies(ctx context.Context, folder string) ([]view.Study, error) {
	var o options
	o.register(flag.NewFlagSet("", flag.ContinueOnError)) // which fills in the defaults
	o.results, o.early = folder, true
	files, skipped, err := readFolder(ctx, folder)
	if err != nil {
		return nil, err
	}
	r, err := newReport(ctx, o, files, skipped)
	if err != nil {
		return nil, err
	}
	var studies []view.Study
	for _, p := range r.Problems {
		s, err := p.page()
		if err != nil {
			return nil, err
		}
		for _, file := range skipped {
			s.Warnings = append(s.Warnings, "not read: "+printable.Line(file))
		}
		studies = append(studies, s)
	}
	return studies, nil
}

// page returns the problem as a study for a page.
func (p *problem) page() (view.Study, error) {
	s := view.Study{Name: printable.Line(p.Task + ", " + p.Model), Figures: []view.Figure{}, Tables: []view.Table{},
		Warnings: []string{}}
	for _, m := range p.Studies {
		s.Facts = append(s.Facts, view.Fact{Name: printable.Line(m.Method), Value: count(m.Runs, "run"),
			Note: m.sizes()})
		for _, found := range m.Found {
			s.Facts = append(s.Facts, view.Fact{Name: printable.Line(m.Method), Value: printable.Line(found)})
		}
		for _, open := range m.Open {
			s.Warnings = append(s.Warnings, printable.Line(m.Method+", cannot be said yet: "+open))
		}
		if early := m.early(); early > 0 {
			s.Warnings = append(s.Warnings,
				printable.Line(m.Method)+": "+count(early, "run")+" stopped early, and count as far as they go")
		}
		s.Tables = append(s.Tables, m.pageTables()...)
	}
	if len(p.Comparisons) > 0 {
		s.Tables = append(s.Tables, p.comparisonTable())
	}
	if len(p.Comparisons) > 1 {
		s.Warnings = append(s.Warnings, "each interval of the comparisons holds by itself: of twenty, one is wrong by chance")
	}
	return s, p.addFigures(&s)
}

// addFigures adds the figures as SVG.
func (p *problem) addFigures(s *view.Study) error {
	for _, f := range p.figures {
		var b bytes.Buffer
		if err := f.SVG(&b); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		title := printable.Line(strings.ReplaceAll(f.what, "_", " "))
		s.Figures = append(s.Figures, view.Figure{Name: title, Caption: title, SVG: b.Bytes()})
	}
	return nil
}

// early returns the number of runs that stopped early.
func (s *study) early() (n int) {
	for _, f := range s.files {
		if f.Early() {
			n++
		}
	}
	return n
}

// pageTables returns the tables of one method.
func (s *study) pageTables() []view.Table {
	tables := []view.Table{s.meansTable()}
	if s.Surface != nil {
		tables = append(tables, s.coefficientsTable())
	}
	if s.Intervals != nil && len(s.Intervals.Splits) > 0 {
		tables = append(tables, s.splitsTable())
	}
	return tables
}

// meansTable has the mean best score of each cell.
func (s *study) meansTable() view.Table {
	if s.sized() {
		return s.meansByCalls()
	}
	t := view.Table{Name: printable.Line(s.Method) + ": mean best score by depth and breadth",
		Head:    []string{"T", "N", "calls", "searches", "mean best"},
		Numeric: []bool{true, true, true, true, true}}
	for _, c := range s.Cells {
		t.Rows = append(t.Rows,
			[]string{text(c.T), text(c.N), text(c.Calls()), text(c.Searches), strconv.FormatFloat(c.Mean, 'f', 4, 64)})
	}
	return t
}

// meansByCalls has the mean best score after each number of calls.
func (s *study) meansByCalls() view.Table {
	t := view.Table{Name: printable.Line(s.Method) + ": mean best score by answered calls",
		Head:    []string{"answered calls", "searches", "mean best"},
		Numeric: []bool{true, true, true}}
	for _, p := range s.Points {
		t.Rows = append(t.Rows, []string{text(p.Calls), text(p.Runs), four(p.Mean)})
	}
	return t
}

// coefficientsTable has the surface's coefficients with their intervals.
func (s *study) coefficientsTable() view.Table {
	t := view.Table{Name: fmt.Sprintf("%s: ln(%g − mean) = b0 + a·ln T + b·ln N + c·ln T·ln N",
		printable.Line(s.Method), s.grid.Ceiling),
		Head: []string{"", "value", "95 % from", "to"}, Numeric: []bool{false, true, true, true}}
	f := s.Surface
	i := s.Intervals
	if i == nil {
		i = &analysis.SurfaceIntervals{}
	}
	for _, row := range []struct {
		name  string
		value float64
		of    analysis.Interval
	}{{"b0", f.B0, i.B0}, {"a", f.A, i.A}, {"b", f.B, i.B}, {"c", f.C, i.C}, {"R²", f.Fit.R2, i.R2}} {
		cells := []string{row.name, four(row.value), "", ""}
		if s.Intervals != nil {
			cells[2], cells[3] = four(row.of.Low), four(row.of.High)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// splitsTable has the best depth and breadth of each budget.
func (s *study) splitsTable() view.Table {
	t := view.Table{Name: printable.Line(s.Method) + ": best split of a budget, by the surface",
		Head:    []string{"calls", "T", "N", "samples with a best split inside"},
		Numeric: []bool{true, true, true, true}}
	for _, split := range s.Intervals.Splits {
		t.Rows = append(t.Rows,
			[]string{text(split.Calls), interval(split.T), interval(split.N), fmt.Sprintf("%.0f %%", 100*split.Interior)})
	}
	return t
}

// comparisonTable has the differences between methods with their intervals.
func (p *problem) comparisonTable() view.Table {
	t := view.Table{Name: "Methods compared at equal answered calls, " + bootstrapped,
		Head: []string{"T", "N", "answered calls", "method", "runs", "against", "runs", "difference of means",
			"chance to be better"}, Numeric: []bool{true, true, true, false, true, false, true, true, true}}
	for _, c := range p.Comparisons {
		row := []string{text(c.T), text(c.N), text(c.Answered), printable.Line(c.First), text(c.FirstRuns),
			printable.Line(c.Second), text(c.SecondRuns), "too few runs", ""}
		if c.N == 0 {
			row[0], row[1] = "", ""
		}
		if c.Result != nil {
			row[7], row[8] = interval(c.Result.Difference), interval(c.Result.Improvement)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// four prints a number with four decimals.
func four(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
