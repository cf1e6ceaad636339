package analyze

import (
	"cmp"
	"context"
	"slices"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// A report is everything computed from the results.
type report struct {
	Results  string     `json:"results"` // the folder
	Problems []*problem `json:"problems"`
	Skipped  []string   `json:"skipped,omitempty"` // files that are not among the results, and why
	Samples  int        `json:"bootstrap_samples"`
	Figures  []string   `json:"figures,omitempty"` // the names of their files

	figures []figure
}

// A problem is one model on one task. Scores of different problems are not comparable.
type problem struct {
	Task        string       `json:"task"`
	Model       string       `json:"model"`
	Studies     []*study     `json:"methods"`
	Comparisons []comparison `json:"comparisons,omitempty"`

	figures []figure
}

// newReport computes the report of the files. Runs that stopped early, and duplicate seeds, are errors.
func newReport(ctx context.Context, o options, files []file, skipped []string) (*report, error) {
	r := &report{Results: o.results, Skipped: skipped, Samples: o.samples}
	for _, group := range groups(files) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := ended(o, group); err != nil {
			return nil, err
		}
		s, err := newStudy(o, group)
		if err != nil {
			return nil, &cli.UsageError{Err: err}
		}
		last := len(r.Problems) - 1
		if last < 0 || r.Problems[last].Task != s.files[0].Task || r.Problems[last].Model != s.files[0].Model {
			r.Problems = append(r.Problems, &problem{Task: s.files[0].Task, Model: s.files[0].Model})
			last++
		}
		r.Problems[last].Studies = append(r.Problems[last].Studies, s)
	}
	for _, p := range r.Problems {
		var err error
		if p.Comparisons, err = compare(o, p.Studies); err != nil {
			return nil, err
		}
		drawn, err := draw(o, p)
		if err != nil {
			return nil, err
		}
		p.figures = drawn
		r.figures = append(r.figures, drawn...)
	}
	distinct(r.figures)
	return r, nil
}

// ended returns an error if a run stopped early, unless the options admit such runs.
func ended(o options, files []file) error {
	for _, f := range files {
		if f.Early() && !o.early {
			return cli.Usagef("%v stopped early, after %s: resume it, move it away, or take such runs as far as they go with "+
				"--early", f.Curve, f.Reached())
		}
	}
	return nil
}

// kind compares the tasks, models and methods of two files.
func kind(a, b file) int {
	return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Method, b.Method))
}

// tiesApart returns the files with methods named apart that differ in ties alone: those of searches whose parent stays
// and those of searches where a child of its score takes its place. Sweeps make the former, and evoalloc greedy the
// latter.
func tiesApart(files []file) []file {
	type rule struct{ task, model, method, ties string }
	of := func(f file, ties string) rule { return rule{f.Task, f.Model, f.Method, ties} }
	there := map[rule]bool{}
	for _, f := range files {
		there[of(f, f.Ties)] = true
	}
	named := slices.Clone(files)
	for i, f := range files {
		if f.Ties != "" && there[of(f, "")] {
			named[i].Method += ", ties " + f.Ties
		}
	}
	return named
}

// groups returns the files by task, model and method, each group in the order of files.
func groups(files []file) [][]file {
	sorted := tiesApart(files)
	slices.SortStableFunc(sorted, kind)
	var all [][]file
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && kind(sorted[0], sorted[n]) == 0 {
			n++
		}
		all = append(all, sorted[:n:n])
		sorted = sorted[n:]
	}
	return all
}
