package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/pool"
	"github.com/evoalloc/evoalloc/task"
)

// Summarize prints how the run ended, what it cost (f), what each of several models brought, and if model is a
// pool, which replica answered how much.
func (o *Options) Summarize(model llm.LLM, r *evolve.Result, f report.Cost, by report.Ledgers) {
	Printf("\n%s", inFlags(report.Summary(r, llm.Model{ActiveParams: f.Active})))
	Printf("%s\n\n", o.breadthOf(r))
	printFLOPs(f)
	printModels(by)
	for _, line := range report.WithoutTolerance(r.Best.Result) {
		Printf("tolerance: %s\n\n", line)
	}
	for _, line := range o.remarks(r) {
		Printf("%s\n\n", line)
	}
	if replicas, ok := llm.As[*pool.Pool](model); ok {
		Printf("%v\n", replicas.Report())
	}
}

// printFLOPs prints what a run cost by each rule for calls without usage, if the rules differ.
func printFLOPs(f report.Cost) {
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

// HeldOut scores the best program on cases that the task kept from the search, if it has any, prints that, and
// returns it for the result's file. What goes wrong is printed and in the file.
func (o *Options) HeldOut(ctx context.Context, t task.Task, best eval.Candidate, m llm.Model) *report.HeldOut {
	if ctx.Err() != nil {
		return nil
	}
	h, err := report.ScoreHeldOut(ctx, t, best, m)
	switch {
	case h == nil:
		return nil
	case err != nil:
		Printf("held out: %s\n\n", h.Reason)
	case h.Reason != "":
		Printf("held out: invalid: %s\n\n", h.Reason)
	default:
		Printf("held out: %.6f%s%s\n\n", h.Score, metrics(h.Metrics), gapText(h.Gap))
	}
	if h.FLOPs != nil {
		Printf("to score held-out cases asked %s, %d tokens: they are beside the budget and the figures above\n\n",
			Count(h.Use.Calls, "call", "calls"), h.Use.Tokens.Prompt+h.Use.Tokens.Completion)
	}
	if h.Note != "" {
		Printf("warning: %s\n\n", h.Note)
	}
	return h
}

// gapText says by how much a held-out score is below the searched one.
func gapText(g *report.Gap) string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf(", searched − held out %.6f (95 %% interval %.6f to %.6f)", g.Mean, g.Low, g.High)
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
