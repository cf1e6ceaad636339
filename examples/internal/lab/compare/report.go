package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/lab/duel"
)

// report prints the tables of the runs.
func report(w io.Writer, runs []compare.Run, o options, cfg compare.Config) error {
	t, err := duel.NewTable(runs)
	if err != nil {
		fmt.Fprintf(w, "no table: %v\n", err)
		return nil
	}
	t.Order(names(cfg.Families), names(cfg.Searches))
	fmt.Fprintf(w, "Mean true score at equal %s (%d), %s seeds:\n\n", o.held(), o.calls, t.Seeds())
	scores(w, t)
	if slices.Contains(t.Searches, o.baseline) {
		if err := differences(w, t, o.baseline); err != nil {
			return err
		}
		fmt.Fprintf(w,
			"\nCalls until nine of ten runs have reached what nine of ten of %s end with; - where they do not:\n\n", o.baseline)
		reaches(w, t, o.baseline)
	}
	return losses(w, t)
}

// table prints a row for each search and a column for each family, and what comes before and after them.
func table(w io.Writer, t *duel.Table, after string, cell func(search string, family int) string,
	last func(search string) string) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "\t%s\t%s\t\n", strings.Join(t.Families, "\t"), after)
	for _, s := range t.Searches {
		fmt.Fprintf(tw, "%s\t", s)
		for f := range t.Families {
			fmt.Fprintf(tw, "%s\t", cell(s, f))
		}
		fmt.Fprintf(tw, "%s\t\n", last(s))
	}
	tw.Flush()
}

// scores prints the means, and the calls that a run makes.
func scores(w io.Writer, t *duel.Table) {
	table(w, t, "calls", func(search string, f int) string {
		return fmt.Sprintf("%.3f", t.Mean(t.Families[f], search))
	}, func(search string) string {
		sum, n := 0, 0
		for _, family := range t.Families {
			for _, r := range t.Runs(family, search) {
				sum, n = sum+r.Calls, n+1
			}
		}
		return fmt.Sprint((sum + n/2) / n)
	})
}

// differences prints by how much each search ends above the baseline.
func differences(w io.Writer, t *duel.Table, baseline string) error {
	fmt.Fprintf(w, "\nAbove %s on the same seeds, ± half of the 95 %% interval; * where p < 0.05 after Holm's "+
		"correction over families:\n\n", baseline)
	of := map[string]compare.Comparison{}
	for _, s := range t.Searches {
		var err error
		if of[s], err = t.Against(s, baseline); err != nil {
			return err
		}
	}
	table(w, t, "", func(search string, f int) string {
		d, mark := of[search].Families[f], " "
		if d.P < 0.05 {
			mark = "*"
		}
		return fmt.Sprintf("%+.3f ±%.3f%s", d.Value, d.Width()/2, mark)
	}, func(string) string { return "" })
	return nil
}

// reaches prints how soon searches reach what the baseline ends with.
func reaches(w io.Writer, t *duel.Table, baseline string) {
	table(w, t, "", func(search string, f int) string {
		calls, ok := t.Reach(t.Families[f], search, t.ReliableScore(t.Families[f], baseline))
		if !ok {
			return "-"
		}
		return fmt.Sprint(calls)
	}, func(string) string { return "" })
}

// losses prints how far each search is behind the best single one of each family.
func losses(w io.Writer, t *duel.Table) error {
	among := slices.DeleteFunc(slices.Clone(t.Searches), func(s string) bool { return !single(s) })
	if len(among) < 2 {
		return nil
	}
	fmt.Fprint(w,
		"\nLoss to the best single search of each family in hindsight, in percent of the range from the worst one to it:\n\n")
	of := map[string]duel.Loss{}
	for _, s := range t.Searches {
		l, err := t.Hindsight(s, among)
		if err != nil {
			fmt.Fprintf(w, "no losses: %v\n", err)
			return nil
		}
		of[s] = l
	}
	table(w, t, "mean\tinterval\twithin 5 %", func(search string, f int) string {
		return fmt.Sprintf("%.0f", 100*of[search].Of[f].Value)
	}, func(search string) string {
		l := of[search]
		return fmt.Sprintf("%.1f\t[%.1f, %.1f]\t%d of %d", 100*l.Mean.Value, 100*l.Mean.Low, 100*l.Mean.High, l.Within(0.05),
			len(t.Families))
	})
	return nil
}
