package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/duel"
	"github.com/evoalloc/evoalloc/examples/internal/lab/searches"
)

// takePair takes --ab A B out of the arguments, because a flag of package flag has one value.
func takePair(args []string) (pair, rest []string, err error) {
	i := slices.IndexFunc(args, func(a string) bool { return a == "--ab" || a == "-ab" })
	if i < 0 {
		return nil, args, nil
	}
	end := i + 3
	if end > len(args) ||
		slices.ContainsFunc(args[i+1:end], func(a string) bool { return a == "" || strings.HasPrefix(a, "-") }) {
		return nil, nil, cli.Usagef("--ab: need two searches or configurations after it: --ab softmax weights=1:1:1")
	}
	return slices.Clone(args[i+1 : end]), slices.Concat(args[:i], args[end:]), nil
}

// versus returns the two searches of --ab: each a name, or a configuration. Two that are the same play under two
// names, so that they do not share their luck.
func versus(pair []string, all []compare.Search) ([]compare.Search, error) {
	var two []compare.Search
	for _, name := range pair {
		i := slices.IndexFunc(all, func(s compare.Search) bool { return s.Name == name })
		if i >= 0 {
			two = append(two, all[i])
			continue
		}
		s, err := searches.Configured(name)
		if err != nil {
			return nil, cli.Usagef("--ab: %w; the searches are %s; %s", err, strings.Join(names(all), ", "), searches.KeysHelp)
		}
		two = append(two, s)
	}
	if two[0].Name == two[1].Name {
		two[1].Name += " (again)"
	}
	return two, nil
}

// judge prints which of the two searches is better, by how much, and how many seeds would tell if these do not.
func judge(w io.Writer, runs []compare.Run, o options, cfg compare.Config) error {
	t, err := duel.NewTable(runs)
	if err != nil {
		fmt.Fprintf(w, "no comparison: %v\n", err)
		return nil
	}
	t.Order(names(cfg.Families), names(cfg.Searches))
	if len(t.Searches) < 2 {
		fmt.Fprintln(w, "no comparison: there are no runs of both")
		return nil
	}
	d, err := t.Against(cfg.Searches[0].Name, cfg.Searches[1].Name)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "A: %s\nB: %s\n\n", d.Search, d.Baseline)
	families(w, t, d)
	fmt.Fprintf(w, "\nA − B over %d families at equal %s (%d), in true score: %+.4f [%+.4f, %+.4f], p = %.4f\n",
		len(t.Families), o.held(), o.calls, d.Difference.Value, d.Difference.Low, d.Difference.High, d.P)
	verdict(w, t, d)
	return nil
}

// families prints a row for each.
func families(w io.Writer, t *duel.Table, d compare.Comparison) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "family\tseeds\tA\tB\tA − B\t95 % interval\tp (Holm)\t\n")
	for _, of := range d.Families {
		fmt.Fprintf(tw, "%s\t%d\t%.3f\t%.3f\t%+.4f\t[%+.4f, %+.4f]\t%.4f\t\n", of.Family, of.Runs,
			t.Mean(of.Family, d.Search), t.Mean(of.Family, d.Baseline), of.Value, of.Low, of.High, of.P)
	}
	tw.Flush()
}

// verdict says who is better, or how many seeds would tell.
func verdict(w io.Writer, t *duel.Table, d compare.Comparison) {
	switch d.Winner() {
	case d.Search:
		fmt.Fprintf(w, "A is better, by %.4f\n", d.Difference.Value)
		return
	case d.Baseline:
		fmt.Fprintf(w, "B is better, by %.4f\n", -d.Difference.Value)
		return
	}
	fmt.Fprintf(w, "%d runs of each do not decide which is better. To find with a power of 80 %%\n", d.Runs)
	for _, size := range []struct {
		what  string
		value float64
	}{{"the difference that these show", d.Difference.Value}, {"a difference of", 0.01}, {"a difference of", 0.02}} {
		n, err := d.SeedsFor(size.value)
		if err != nil {
			fmt.Fprintf(w, "  %s (%.4f): %v\n", size.what, size.value, err)
			continue
		}
		fmt.Fprintf(w, "  %s (%.4f) takes about %d seeds for each family, %d runs of each search\n", size.what, size.value, n,
			n*len(t.Families))
	}
}
