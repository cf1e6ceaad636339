package cli

import (
	"context"
	"flag"
	"math"
	"strconv"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/task"
)

// Distrust holds the flags of checks on an evaluator.
type Distrust struct {
	audit string
	Canary
}

// The values of --audit.
const (
	auditReports = "report"
	auditDemotes = "demote"
)

func (d *Distrust) register(fs *flag.FlagSet) {
	fs.StringVar(&d.audit, "audit", "",
		"score the best of each generation on held-out cases: report or demote\n"+
			"They are cases that the task keeps from the search. report says what they score; demote drops "+
			"a best that is not better there, so that the held-out score is one that was selected by")
	d.Canary.register(fs, "the run stops")
}

func (d *Distrust) check() error {
	if d.audit != "" && d.audit != auditReports && d.audit != auditDemotes {
		return Usagef("--audit is %q: it is %s or %s", d.audit, auditReports, auditDemotes)
	}
	return d.Canary.check()
}

// Canary is the flag of a program with a known score.
type Canary struct {
	canary string
	score  float64
}

func (c *Canary) register(fs *flag.FlagSet, what string) {
	fs.StringVar(&c.canary, "canary", "",
		"`score` of the initial program, by which a changed evaluator is found\n"+
			"It is scored at the start and every 100 evaluations, and "+what+" if it comes to another score.")
}

func (c *Canary) check() (err error) {
	if c.canary == "" {
		return nil
	}
	if c.score, err = strconv.ParseFloat(c.canary, 64); err != nil || math.IsNaN(c.score) || math.IsInf(c.score, 0) {
		return Usagef("--canary is %q: need the initial program's score", c.canary)
	}
	return nil
}

// canaryDigits is the canary's relative tolerance: what the six printed digits leave open.
const canaryDigits = 1e-6

// Guarded returns e with the initial program of t as a canary, if --canary is given.
func (c *Canary) Guarded(t task.Task, e eval.Evaluator) eval.Evaluator {
	if c.canary == "" {
		return e
	}
	return eval.WithCanaries(e,
		eval.Canary{Program: t.Initial(), Score: c.score, Tolerance: canaryDigits * max(1, math.Abs(c.score))})
}

// Audit returns what --audit asks for, or nil.
func (d *Distrust) Audit(t task.Task) (*evolve.Audit, error) {
	if d.audit == "" {
		return nil, nil
	}
	if _, ok := task.As[interface {
		HeldOut(context.Context, string) (eval.Result, error)
	}](t); !ok {
		return nil, Usagef("--audit has no effect on the task %s: it keeps no cases from searches", t.Name())
	}
	return &evolve.Audit{By: evolve.HeldOut{Task: t}, Demote: d.audit == auditDemotes}, nil
}

// PrintAudits prints the audits of searches.
func PrintAudits(searches ...result.Search) {
	for _, s := range searches {
		if s.Audit != nil {
			Printf("audit of seed %d: %v\n\n", s.Seed, s.Audit)
		}
	}
}
