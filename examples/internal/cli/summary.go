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
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/pool"
	"github.com/evoalloc/evoalloc/task"
)

// summary prints how the run ended and what it cost: f, and if model is a pool, which replica answered how much.
func (o *Options) summary(model llm.LLM, r *evolve.Result, start float64, f report.Cost) {
	Printf("\nended (%s) after %d calls in %.1f s: best %.6f, from %.6f\n",
		stopText(r), r.Calls, r.Elapsed.Seconds(), r.Best.Result.Score, start)
	Printf("%s\n", o.breadthOf(r))
	w := f.WorstCase // the rules differ in what they charge, not in what they count
	Printf("attempts: %d ok, %d timeout, %d error, %d canceled\n", w.OK, w.Timeout, w.Error, w.Canceled)
	Printf("tokens: %d prompt (%.1f %% cached), %d completion\n\n", w.PromptTokens, 100*w.CacheHitRate, w.CompletionTokens)
	var rows [][]string
	for _, s := range f.Summaries() {
		rows = append(rows, []string{string(s.Rule), fmt.Sprintf("%.4g", s.TotalFLOPs), fmt.Sprintf("%.4g", s.TimeoutFLOPs)})
	}
	Table([]string{"rule", "FLOPs", "without usage"}, rows)
	Printf("\n")
	for _, line := range o.remarks(r) {
		Printf("%s\n\n", line)
	}
	if replicas, ok := llm.As[*pool.Pool](model); ok {
		Printf("%v\n", replicas.Report())
	}
}

// HeldOut prints how the best program does on cases that the task kept from the search, if it has any.
func (o *Options) HeldOut(ctx context.Context, t task.Task, best eval.Candidate) {
	if ctx.Err() != nil || !best.Result.Valid {
		return
	}
	r, ok, err := task.HeldOut(ctx, t, best.Program)
	switch {
	case !ok:
	case err != nil:
		Printf("held out: %v\n\n", err)
	case !r.Valid:
		Printf("held out: invalid: %s\n\n", r.Reason)
	default:
		Printf("held out: %.6f%s\n\n", r.Score, metrics(r))
	}
}

// metrics returns the metrics of r as they follow its score.
func metrics(r eval.Result) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		list = append(list, fmt.Sprintf("%s %.6g", name, r.Metrics[name]))
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

func stopText(r *evolve.Result) string {
	if r.Limit != "" {
		return fmt.Sprintf("%s: %s", r.Stop, r.Limit)
	}
	return string(r.Stop)
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
