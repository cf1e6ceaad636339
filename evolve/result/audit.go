package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
)

// String says in a line what the audits say of the best program, and of how many others.
func (a Audited) String() string {
	text := "the best program is not audited"
	switch f := a.Final; {
	case f != nil && f.Audited != nil:
		text = fmt.Sprintf("the best program's score of %.6f is %.6f by the second evaluator", f.Score, *f.Audited)
	case f != nil:
		text = "the best program is invalid by the second evaluator: " + f.Reason
	}
	if s := a.Start; s != nil && s.Audited != nil {
		text += fmt.Sprintf(", which gives the first %.6f", *s.Audited)
	}
	return fmt.Sprintf("%s; %d of %d bests were demoted", text, a.Demoted, a.Audits)
}

// WithoutTolerance says which figures of a result would be others if no tolerance were granted, one line each: those
// with a metric of the same name after [eval.ExactPrefix]. It returns nil where there are none.
func WithoutTolerance(r eval.Result) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		of, ok := strings.CutPrefix(name, eval.ExactPrefix)
		value, known := r.Metrics[of]
		if of == "score" {
			value, known = r.Score, true
		}
		if exact := r.Metrics[name]; ok && known && exact != value {
			lines = append(lines, fmt.Sprintf("the best program's %s of %.9g is %.9g without a tolerance", of, value, exact))
		}
	}
	return lines
}
