package report

import (
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// A generationRow is one row of a trajectory. Row 0 is the initial program and has no parent. A fitness is a
// score, and 0 for a program that is invalid.
type generationRow struct {
	Generation    int      `json:"generation"`
	BestFitness   float64  `json:"best_fitness"`
	BestSD        float64  `json:"best_sd,omitempty"` // standard deviation of the samples of BestFitness
	BestN         int      `json:"best_n,omitempty"`  // number of these samples; 0 for one
	ParentFitness *float64 `json:"parent_fitness,omitempty"`
	// children planned, as many as calls were granted; 0 in row 0, and if the search does not say
	Width    int       `json:"width,omitempty"`
	Count    int       `json:"n_children"` // children made
	Valid    int       `json:"n_valid"`    // children that are valid; in row 0: 1 if the initial program is
	Improved int       `json:"n_improved"` // children strictly better than the parent
	Children childRows `json:"children"`
	// calls beside the children; in row 0 those before the first generation
	Asides      []asideRow `json:"asides,omitempty"`
	Evaluations int        `json:"evaluations,omitempty"`      // evaluations made, without those remembered
	Tuned       int        `json:"tune_evaluations,omitempty"` // evaluations made by a tuner
	Seconds     float64    `json:"gen_time_s"`                 // wall time of the generation
	// second evaluations of the best programs; left out if the search is not audited
	Audits []auditRow `json:"audits,omitempty"`
	// whether its best is better than the one before by a tolerance alone
	Lenient bool   `json:"lenient_win,omitempty"`
	Partial bool   `json:"partial,omitempty"` // whether it was cut short
	Reason  string `json:"reason,omitempty"`  // in row 0: why the initial program has no score
	Program string `json:"program,omitempty"` // in row 0: the hash of the initial program
}

// startRow returns row 0 of a trajectory. It has one for an arm that was never drawn too, so that a reader can
// always compare with the beginning.
func startRow(arm evolve.ArmResult) generationRow {
	row := generationRow{BestFitness: arm.Start.Result.Score, Asides: newAsides(arm.Asides),
		Program: hash(arm.Start.Program)}
	if arm.Start.Result.Valid {
		row.Valid = 1
	} else {
		row.Reason = arm.Start.Result.Reason
	}
	return row
}

// hash names a program as journals do, "" for none.
func hash(program string) string {
	if program == "" {
		return ""
	}
	return record.KeyOf(program).String()
}

func newGeneration(g evolve.Generation) generationRow {
	parent := g.Before.Result.Score
	row := generationRow{
		Generation:    g.Index,
		BestFitness:   g.Best.Result.Score,
		ParentFitness: &parent,
		Width:         g.Width,
		Count:         len(g.Children),
		Children:      childRows{of: g.Children},
		Asides:        newAsides(g.Asides),
		Evaluations:   g.Evaluations,
		Audits:        newAudits(g.Audits),
		Lenient:       lenient(g),
		Tuned:         g.TuneEvaluations,
		Seconds:       g.Elapsed.Seconds(),
		Partial:       g.Partial,
	}
	row.BestSD, row.BestN = samplesOf(g.Best.Result)
	for _, c := range g.Children {
		if c.Scored() && c.Result.Valid {
			row.Valid++
		}
		if c.Scored() && c.Better(g.Before) {
			row.Improved++
		}
	}
	return row
}
