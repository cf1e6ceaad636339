package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/pool"
)

// Summarize prints how the run ended, what it cost (f, and money if all models that were asked have prices), what each
// of several models brought, and if model is a pool, which replica answered how much.
func (o *Options) Summarize(model llm.LLM, asked []llm.Model, r *evolve.Result, f result.Cost, by result.Totals) {
	Printf("\n%s", inFlags(report.Summary(r, charged(asked, f.Active)...)))
	Printf("%s\n\n", o.breadthOf(r))
	printFLOPs(f)
	printModels(by)
	for _, line := range result.WithoutTolerance(r.Best.Result) {
		Printf("tolerance: %s\n\n", line)
	}
	for _, line := range o.remarks(r) {
		Printf("%s\n\n", line)
	}
	if replicas, ok := llm.As[*pool.Pool](model); ok {
		Printf("%v\n", replicas.Report())
	}
}

// charged returns the models that a summary charges calls at: with their prices if all have one.
func charged(asked []llm.Model, active int64) []llm.Model {
	models := slices.Clone(asked)
	if len(models) == 0 || slices.ContainsFunc(models, func(m llm.Model) bool { return m.Price == nil }) {
		return []llm.Model{{ActiveParams: active}}
	}
	models[0].ActiveParams = active
	return models
}

// printFLOPs prints what a run cost by each rule for calls without usage, if the rules differ.
func printFLOPs(f result.Cost) {
	all := f.Summaries()
	if !slices.ContainsFunc(all, func(s flops.Summary) bool { return s.TotalFLOPs != all[0].TotalFLOPs }) {
		return
	}
	var rows [][]string
	for _, s := range all {
		rows = append(rows, []string{string(s.Rule), fmt.Sprintf("%.4g", s.TotalFLOPs), fmt.Sprintf("%.4g", s.TimeoutFLOPs)})
	}
	Table([]string{"rule", "FLOPs", "without usage"}, rows)
	Printf("\n")
}

// metrics returns metrics as they follow a score.
func metrics(m map[string]float64) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, fmt.Sprintf("%s %.6g", name, m[name]))
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// CountsHead is the head of the columns of [Counts].
const CountsHead = "valid  better    of       s"

// Counts says how many children of a generation were valid, improved on the parent, and came to be, and
// how long it took.
func Counts(g evolve.Generation) string {
	var valid, better int
	for _, c := range g.Children {
		if c.Result.Valid {
			valid++
		}
		if c.Better(g.Before) {
			better++
		}
	}
	return fmt.Sprintf("%5d  %6d  %4d  %6.1f", valid, better, len(g.Children), g.Elapsed.Seconds())
}

// Table prints rows under a head, in aligned columns.
func Table(head []string, rows [][]string) {
	w := tabwriter.NewWriter(Stdout(), 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{head}, rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	w.Flush()
}
