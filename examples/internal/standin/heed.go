package standin

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/internal/mutate"
)

// A wish is what a reply heeds of what the prompt says besides the programs.
type wish struct {
	numbers bool // change numbers alone
	bold    bool // swap statements, and change numbers
	simpler bool // take a line out
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
)

// heeded returns what a reply heeds of prose, each thing with chance p. It draws nothing if p is 0.
func heeded(prose string, p float64, d mutate.Draw) wish {
	var w wish
	if p <= 0 {
		return w
	}
	w.numbers = spokenNumbers.MatchString(prose) && d.Chance(p)
	w.bold = spokenBold.MatchString(prose) && d.Chance(p)
	w.simpler = spokenSimpler.MatchString(prose) && d.Chance(p)
	w.first = spokenFirst.MatchString(prose) && d.Chance(p)
	if spokenFix.MatchString(prose) && d.Chance(p) {
		if m := spokenLine.FindStringSubmatch(prose); m != nil {
			w.line, _ = strconv.Atoi(m[1]) // of at most six digits
		}
	}
	return w
}

// rewrite returns program changed as w has it, and whether more than its numbers may be.
func (w wish) rewrite(program string, syn lex.Language, d mutate.Draw) (text string, altered bool) {
	lines := strings.SplitAfter(program, "\n")
	switch at := d.IntN(len(lines)); {
	case w.line > 0 && w.line <= len(lines) && strings.TrimSpace(lines[w.line-1]) != "":
		return editLine(lines, w.line-1, syn, d), true
	case w.simpler && !w.numbers:
		return strings.Join(slices.Delete(lines, at, at+1), ""), true
	case w.bold && !w.numbers:
		swapped, altered := mutate.Swap(program, d)
		return mutate.Numbers(swapped, syn, d, ""), altered
	}
	return mutate.Numbers(program, syn, d, ""), false
}

// editLine changes one line of a program: its numbers, or it takes the line out.
func editLine(lines []string, i int, syn lex.Language, d mutate.Draw) string {
	changed := mutate.Numbers(lines[i], syn, d, "")
	if changed == lines[i] || d.Chance(0.3) {
		changed = ""
	}
	lines[i] = changed
	return strings.Join(lines, "")
}
