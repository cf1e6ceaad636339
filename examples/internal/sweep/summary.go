package sweep

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// summary prints the mean best score of each cell, what was decided, and where the files are.
func summary(p sweep.Plan, r *sweep.Result, dir string) {
	for _, of := range problems(p, r.Scores) {
		table(of.task, of.model, r.Scores)
	}
	for _, v := range r.Verdicts {
		cli.Printf("%v\n", line(v))
	}
	if n := len(r.Unfinished); n > 0 {
		cli.Printf("%d runs are unfinished, because too many attempts stalled: the same command with a larger --max-stalls "+
			"goes on with them\n", n)
	}
	if r.Left > 0 {
		cli.Printf("%d runs are left: the same command goes on\n", r.Left)
	}
	cli.Printf("every generation of %d runs: %s\n", r.Finished, filepath.Join(dir, "runs.csv"))
	if n := others(p, dir); n > 0 {
		cli.Printf("%s of other plans in this folder: runs.csv has those of this plan alone, and evoalloc analyze reads "+
			"all\n",
			cli.Count(n, "finished run is", "finished runs are"))
	}
	if r.Finished > 0 {
		cli.Printf("what they say, in tables and figures: %s %s\n", cli.Typed("analyze"), cli.Quote(dir))
	}
}

// A problem is a task and a model, which have a table.
type problem struct{ task, model string }

// problems returns those of the plan, and then others that runs have which were read.
func problems(p sweep.Plan, scores []sweep.Score) (all []problem) {
	for _, t := range p.Tasks {
		for _, m := range p.Models {
			all = append(all, problem{t.Name(), m.Spec.Key})
		}
	}
	for _, s := range scores {
		if of := (problem{s.Task, s.Model}); !slices.Contains(all, of) {
			all = append(all, of)
		}
	}
	return all
}

// others counts the finished runs in a folder that are not of the plan.
func others(p sweep.Plan, dir string) (n int) {
	planned := map[string]bool{}
	for _, r := range p.Runs() {
		planned[filepath.Join(dir, r.Path(".done"))] = true
	}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) == ".done" && !planned[path] {
			n++
		}
		return nil // what cannot be read is not told of
	})
	return n
}

// A spot is a place of the table: a method and a budget.
type spot struct {
	method string
	n      int
	calls  int
}

// table prints the cells of one task and model: a row for each method and breadth, a column for each budget.
func table(task, model string, scores []sweep.Score) {
	at, fewer := map[spot][]float64{}, fewest(task, model, scores)
	rows, budgets := map[spot]bool{}, map[int]bool{}
	for _, s := range scores {
		if s.Task == task && s.Model == model {
			at[spot{s.Method, s.N, s.Calls()}] = append(at[spot{s.Method, s.N, s.Calls()}], s.Best)
			rows[spot{method: s.Method, n: s.N}], budgets[s.Calls()] = true, true
		}
	}
	if len(rows) == 0 {
		return
	}
	head := []string{"method", "N at most"}
	columns := slices.Sorted(maps.Keys(budgets))
	for _, c := range columns {
		head = append(head, fmt.Sprintf("C=%d", c))
	}
	var lines [][]string
	for _, row := range slices.SortedFunc(maps.Keys(rows), order) {
		cells := []string{row.method, fmt.Sprint(row.n)}
		for _, c := range columns {
			cells = append(cells, mean(at[spot{row.method, row.n, c}]))
		}
		lines = append(lines, cells)
	}
	cli.Printf("\n%s, %s: mean best score, standard error, number of seeds\n", task, model)
	cli.Table(head, lines)
	for _, c := range columns {
		if fewer[c] < c {
			cli.Printf("C=%d: some runs have no more than %d answered calls, as calls failed; --stop-when and evoalloc "+
				"analyze compare at equal ones\n", c, fewer[c])
		}
	}
	cli.Printf("\n")
}

// fewest returns by budget the fewest answered calls of a cell of one task and model.
func fewest(task, model string, scores []sweep.Score) map[int]int {
	of := map[int]int{}
	for _, s := range scores {
		if s.Task == task && s.Model == model {
			least, known := of[s.Calls()]
			if !known || s.Answered < least {
				of[s.Calls()] = s.Answered
			}
		}
	}
	return of
}

func order(a, b spot) int {
	if a.method != b.method {
		if a.method < b.method {
			return -1
		}
		return 1
	}
	return a.n - b.n
}

// mean returns the mean of values with its standard error and their number, "" for none.
func mean(values []float64) string {
	n := float64(len(values))
	if n == 0 {
		return ""
	}
	sum, square := 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	for _, v := range values {
		square += (v - sum/n) * (v - sum/n)
	}
	if n == 1 {
		return fmt.Sprintf("%.4f (1)", sum)
	}
	return fmt.Sprintf("%.4f ±%.4f (%d)", sum/n, math.Sqrt(square/(n-1)/n), len(values))
}

// line says what is known of a comparison.
func line(v sweep.Verdict) string {
	known := fmt.Sprintf("%s, %s: %v: the first wins %.2f of %d pairs, confidence sequence %.2f to %.2f",
		v.Task, v.Model, v.Comparison, v.Wins, v.Pairs, v.Low, v.High)
	if winner, decided := v.Winner(); decided {
		return fmt.Sprintf("%s: decided for %v", known, winner)
	}
	return known + ": not decided"
}
