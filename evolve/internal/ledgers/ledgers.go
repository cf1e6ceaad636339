// Package ledgers has what the ledgers of a result's file and those of a live page have in common, so that both say the
// same of a run: which kinds there are, how names are cut, and the mean and spread of lifts.
package ledgers

import (
	"math"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// Others is the name of all that come after the names that a ledger has room for.
const Others = "others"

// PlainRewrite is the operator of a child that names none.
const PlainRewrite = "rewrite"

// Labels returns the kinds of ledgers whose names are labels of children.
func Labels() []string { return []string{"selector", "instruction", "settings"} }

// mostName is how many bytes a name has.
const mostName = 300

// Name returns text that somebody else wrote in one line that is fit to be shown, cut to a length that a table can hold.
func Name(s string) string {
	if len(s) > 4*mostName {
		s = s[:4*mostName]
	}
	return Cut(printable.Line(s), mostName)
}

// Label returns the name of a label. Journals keep the first eval.MaxName bytes of one.
func Label(s string) string {
	if len(s) > eval.MaxName {
		s = strings.ToValidUTF8(s[:eval.MaxName], "")
	}
	return Name(s)
}

// Cut returns s in at most so many bytes, with a mark if there was more.
func Cut(s string, most int) string {
	const mark = " …"
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len(mark)], "") + mark
}

// Lifts sum by how much children are better than their parents. The mean and the sum of squared distances from it are kept
// as by Welford, which loses no digits where lifts are small and alike.
type Lifts struct {
	N           int
	mean, about float64
}

// Add counts a lift.
func (l *Lifts) Add(lift float64) {
	l.N++
	d := lift - l.mean
	l.mean += d / float64(l.N)
	l.about += d * (lift - l.mean)
}

// Mean returns the mean, 0 of none or if it is not finite.
func (l Lifts) Mean() float64 { return finite(l.mean) }

// SD returns the standard deviation √(Σ(l − l̄)²/(n − 1)), 0 of fewer than two or if it is not finite.
func (l Lifts) SD() float64 {
	if l.N < 2 {
		return 0
	}
	return finite(math.Sqrt(l.about / float64(l.N-1)))
}

// SE returns the standard error of the mean, 0 of fewer than two or if it is not finite.
func (l Lifts) SE() float64 {
	if l.N < 2 {
		return 0
	}
	return finite(math.Sqrt(l.about / float64(l.N-1) / float64(l.N)))
}

// In returns the mean in standard deviations of all lifts of the run, 0 if these have none.
func (l Lifts) In(all Lifts) float64 {
	if sd := all.SD(); sd > 0 {
		return finite(l.mean / sd)
	}
	return 0
}

// finite returns v, or 0 if it is not a finite number: scores are finite, but the difference of two of them need not be.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
