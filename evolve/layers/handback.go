package layers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// A Win is what a round came to.
type Win struct {
	Pool        []eval.Candidate
	Combination eval.Candidate // the best, which may be invalid or worse than the best base
	Promoted    bool           // whether a combination is the answer
}

// A HandBack tells stage one of the end of a round, before it goes on. What it does must depend on the Win alone.
type HandBack interface{ Back(Win) }

// HandBackFunc is a func as a HandBack.
type HandBackFunc func(Win)

// Back calls f.
func (f HandBackFunc) Back(w Win) { f(w) }

// String names the type, as a func cannot be printed.
func (f HandBackFunc) String() string { return "HandBackFunc" }

// WorstCases hands back the cases at which the best combination is the worst, as a note for the prompts of stage one: it
// is a [population.Memory] too, so that the same value stands in Config.Back and in the Memory of stage one's
// population. A base that is good there is what the pool lacks.
type WorstCases struct {
	Most int // how many cases the note names; 0 means 3
	note string
}

var (
	_ HandBack          = (*WorstCases)(nil)
	_ population.Memory = (*WorstCases)(nil)
)

// Back keeps the worst cases of a combination that has any. Of equals it names the first.
func (c *WorstCases) Back(w Win) {
	cases := w.Combination.Result.Cases
	if !w.Combination.Result.Valid || len(cases) == 0 {
		return
	}
	at := make([]int, len(cases))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(cases[i], cases[j]) })
	var worst []string
	for _, i := range at[:min(cmp.Or(max(0, c.Most), 3), len(at))] {
		worst = append(worst, fmt.Sprintf("case %d (%.6f)", i, cases[i]))
	}
	c.note = fmt.Sprintf("Programs are combined by instance. The best combination scores %.6f and is the worst at %s: "+
		"a program that is good there is needed most, however it does elsewhere.", w.Combination.Result.Score, strings.Join(worst, ", "))
}

// Notes returns the note, or nothing before the end of the first round.
func (c *WorstCases) Notes(*population.View) []string {
	if c.note == "" {
		return nil
	}
	return []string{c.note}
}

// Learn does nothing.
func (c *WorstCases) Learn(context.Context, *population.Season) error { return nil }

// String names the rule.
func (c *WorstCases) String() string { return "WorstCases" }
