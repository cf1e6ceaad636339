package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// An auditRow is what a second evaluator says of a program that a search held to be its best ([eval.Audit]).
type auditRow struct {
	Program string   `json:"program"` // its hash
	Score   float64  `json:"score"`   // that the search knows
	Audited *float64 `json:"audited"` // the second evaluator's; null if it is invalid there, or was not audited
	Gap     *float64 `json:"gap,omitempty"`
	Demoted bool     `json:"demoted,omitempty"` // the search does not keep it as its best
	Reason  string   `json:"reason,omitempty"`  // why it has no audited score, or was demoted
}

func newAudits(audits []eval.Audit) (rows []auditRow) {
	for _, a := range audits {
		rows = append(rows, newAudit(a))
	}
	return rows
}

func newAudit(a eval.Audit) auditRow {
	row := auditRow{Program: hash(a.Program), Score: a.Result.Score, Demoted: a.Demoted, Reason: a.Second.Reason}
	if a.Second.Valid {
		row.Audited = &a.Second.Score
	}
	if gap, ok := a.Gap(); ok {
		row.Gap = &gap
	}
	if a.Demoted {
		row.Reason = a.Why
	}
	return row
}

// An Audited sums the audits of a search.
type Audited struct {
	Start   *auditRow `json:"start,omitempty"` // of the program that it began with
	Final   *auditRow `json:"final,omitempty"` // of its best program; nil if that was not audited
	Audits  int       `json:"audits"`
	Demoted int       `json:"demoted"`
}

// newAudited returns the sum, nil if the search is not audited.
func newAudited(arm evolve.ArmResult) *Audited {
	var sum Audited
	for _, g := range arm.Generations {
		for _, a := range g.Audits {
			row := newAudit(a)
			if sum.Audits++; sum.Audits == 1 {
				sum.Start = &row
			}
			if a.Demoted {
				sum.Demoted++
			}
			if a.Program == arm.Best.Program && !a.Demoted {
				sum.Final = &row
			}
		}
	}
	if sum.Audits == 0 {
		return nil
	}
	return &sum
}

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

// lenient reports whether the best of g is better than the one before it, and is not without a tolerance.
func lenient(g evolve.Generation) bool {
	strict := func(c eval.Candidate) eval.Candidate { return eval.Candidate{Result: c.Result.Strict()} }
	return g.Best.Better(g.Before) && !strict(g.Best).Better(strict(g.Before))
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
