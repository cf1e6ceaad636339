package duel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/view"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// baseline is the search that the others are compared with, if it is among them; else it is the first.
const baseline = "greedy-1"

// Studies returns what the runs of a file show, for a page: a study for each budget.
func Studies(name string, data []byte) ([]view.Study, error) {
	lines, err := Read(data)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, errors.New("it has no run")
	}
	by := map[Budget][]compare.Run{}
	var budgets []Budget
	for _, l := range lines {
		if by[l.Budget] == nil {
			budgets = append(budgets, l.Budget)
		}
		by[l.Budget] = append(by[l.Budget], l.Run)
	}
	slices.SortFunc(budgets, func(a, b Budget) int {
		return cmp.Or(cmp.Compare(a.Calls, b.Calls), slices.Compare(a.fields(), b.fields()))
	})
	var studies []view.Study
	for _, b := range budgets {
		t, err := NewTable(by[b])
		if err != nil {
			return nil, err
		}
		s, err := study(t, b)
		if err != nil {
			return nil, err
		}
		s.Name = printable.Line(fmt.Sprintf("%s, %s", name, s.Name))
		studies = append(studies, s)
	}
	return studies, nil
}

// study returns what the runs with one budget show.
func study(t *Table, b Budget) (view.Study, error) {
	s := view.Study{Name: fmt.Sprintf("equal calls: %d", b.Calls), Figures: []view.Figure{}, Warnings: []string{}}
	if b.FLOPs {
		s.Name = fmt.Sprintf("equal FLOPs: those of %d calls", b.Calls)
	}
	to := t.Searches[0]
	if slices.Contains(t.Searches, baseline) {
		to = baseline
	}
	seeds, _ := t.seeds()
	s.Facts = []view.Fact{
		{Name: "Searches", Value: fmt.Sprint(len(t.Searches)), Note: "compared with " + printable.Line(to)},
		{Name: "Families", Value: fmt.Sprint(len(t.Families))},
		{Name: "Seeds", Value: t.Seeds(), Note: "paired"},
	}
	s.Tables = []view.Table{scores(t)}
	differences, err := against(t, to)
	if err != nil {
		s.Warnings = append(s.Warnings, printable.Line("no differences: "+err.Error()))
		return s, nil
	}
	s.Tables = append(s.Tables, differences)
	if seeds < 10 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d seeds: an interval of so few is too narrow", seeds))
	}
	return s, nil
}

// scores is the table of mean true scores.
func scores(t *Table) view.Table {
	return table(t, "Mean true score",
		func(search string, f int) string { return fmt.Sprintf("%.3f", t.Mean(t.Families[f], search)) })
}

// against is the table of differences to a baseline, with their intervals.
func against(t *Table, to string) (view.Table, error) {
	of := map[string]compare.Comparison{}
	for _, s := range t.Searches {
		var err error
		if of[s], err = t.Against(s, to); err != nil {
			return view.Table{}, err
		}
	}
	title := "Above " + printable.Line(to) +
		" on the same seeds, ± half of the 95 % interval; * where p < 0.05 after Holm's correction over families"
	return table(t, title, func(search string, f int) string {
		d, mark := of[search].Families[f], ""
		if d.P < 0.05 {
			mark = " *"
		}
		return fmt.Sprintf("%+.3f ± %.3f%s", d.Value, d.Width()/2, mark)
	}), nil
}

// table has a row for each search and a column for each family.
func table(t *Table, title string, cell func(search string, family int) string) view.Table {
	v := view.Table{Name: title, Head: []string{"search"}, Numeric: []bool{false}}
	for _, f := range t.Families {
		v.Head, v.Numeric = append(v.Head, printable.Line(f)), append(v.Numeric, true)
	}
	for _, s := range t.Searches {
		row := []string{printable.Line(s)}
		for f := range t.Families {
			row = append(row, cell(s, f))
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}
