package standin

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/internal/mutate"
)

// A wish is what a reply heeds of what the prompt says besides the programs.
type wish struct {
	mutate.Bias
	numbers bool // change numbers alone
	line    int  // change this line alone; 0 means any
	first   bool // change the first program that is shown
}

var (
	spokenNumbers = regexp.MustCompile(`(?i)\bonly (the )?(constants|numbers|parameters)\b|\btun(e|ing)\b`)
	spokenBold    = regexp.MustCompile(`(?i)\bdifferent\b|\bexplor|\bnew (idea|approach|structure)\b|\bnovel\b`)
	spokenSimpler = regexp.MustCompile(`(?i)\bsimpl(er|ify|ification)\b|\bshort(er|en)\b|\bremov(e|ing)\b`)
	spokenFix     = regexp.MustCompile(`(?i)\b(fix|repair|correct)\b`)
	spokenLine    = regexp.MustCompile(`(?i)\bline (\d{1,6})\b`)
	spokenFirst   = regexp.MustCompile(`(?i)\bprogram to (be )?chang(e|ed) is (program 1|the current program)\b`)
	spokenAgainst = regexp.MustCompile(`(?i)\b(avoid|do not|don't|never|without|worse|hurts?|failed|did not help)\b`)
)

// heeded returns what a reply heeds of prose, each thing with chance p. It draws nothing if p is 0.
func heeded(prose string, p float64, d mutate.Draw) wish {
	var w wish
	if p <= 0 {
		return w
	}
	w.numbers = spokenNumbers.MatchString(prose) && d.Chance(p)
	w.Bold = spokenBold.MatchString(prose) && d.Chance(p)
	w.Simpler = spokenSimpler.MatchString(prose) && d.Chance(p)
	w.first = spokenFirst.MatchString(prose) && d.Chance(p)
	if spokenFix.MatchString(prose) && d.Chance(p) {
		if m := spokenLine.FindStringSubmatch(prose); m != nil {
			w.line, _ = strconv.Atoi(m[1]) // of at most six digits
		}
	}
	for line := range strings.Lines(prose) {
		against := spokenAgainst.MatchString(line)
		for k, i := range idioms {
			switch {
			case !i.spoken.MatchString(line) || !d.Chance(p):
			case against:
				w.Avoid |= 1 << k
			default:
				w.Prefer |= 1 << k
			}
		}
	}
	w.Prefer &^= w.Avoid
	return w
}
