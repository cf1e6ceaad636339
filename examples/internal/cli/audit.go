package cli

import (
	"flag"
	"math"
	"strconv"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/audit"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/task"
)

// Distrust are the flags of what checks an evaluator.
type Distrust struct {
	audit, canary string
	score         float64 // of the canary
}

// The values of --audit.
const (
	auditReports = "report"
	auditDemotes = "demote"
)

func (d *Distrust) register(fs *flag.FlagSet) {
	fs.StringVar(&d.audit, "audit", "", "score the best of each generation on the cases that the task keeps from the search: report says what they score; demote takes back a best that is not better there, so that the held-out score is one that was selected by")
	fs.StringVar(&d.canary, "canary", "", "`score` of the initial program: it is scored before the run and every 100 evaluations, and the run stops if it comes to another score")
}

func (d *Distrust) check() (err error) {
	if d.audit != "" && d.audit != auditReports && d.audit != auditDemotes {
		return Usagef("--audit is %q: it is %s or %s", d.audit, auditReports, auditDemotes)
	}
	if d.canary == "" {
		return nil
	}
	if d.score, err = strconv.ParseFloat(d.canary, 64); err != nil || math.IsNaN(d.score) || math.IsInf(d.score, 0) {
		return Usagef("--canary is %q: need the initial program's score", d.canary)
	}
	return nil
}

// canaryDigits is by how much the canary may differ, in parts of its score: what the six digits that the examples print
// leave open.
const canaryDigits = 1e-6

// Guarded returns e with the initial program of t as a canary, if --canary is given.
func (d *Distrust) Guarded(t task.Task, e eval.Evaluator) eval.Evaluator {
	if d.canary == "" {
		return e
	}
	return eval.WithCanaries(e, eval.Canary{Program: t.Initial(), Score: d.score, Tolerance: canaryDigits * max(1, math.Abs(d.score))})
}

// Audited returns arm as --audit wants it.
func (d *Distrust) Audited(t task.Task, arm evolve.Arm) (evolve.Arm, error) {
	if d.audit == "" {
		return arm, nil
	}
	by, ok := audit.HeldOut(t)
	if !ok {
		return nil, Usagef("--audit has no effect on the task %s: it keeps no cases from searches", t.Name())
	}
	return audit.New(arm, audit.Config{By: by, Demote: d.audit == auditDemotes})
}

// Decides adds to fp what --audit decides of a run.
func (d *Distrust) Decides(fp journal.Fingerprint) journal.Fingerprint {
	if d.audit != "" { // not without it, so that older journals still fit
		fp["audit"] = d.audit
	}
	return fp
}

// printAudits prints what the audits of searches say.
func printAudits(searches ...report.Search) {
	for _, s := range searches {
		if s.Audit != nil {
			Printf("audit of seed %d: %v\n\n", s.Seed, s.Audit)
		}
	}
}
