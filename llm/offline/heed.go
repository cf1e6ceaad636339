package offline

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/llm"
)

// A wish is what a reply heeds of what the prompt says besides the programs.
type wish struct {
	numbers bool // change numbers alone
	bold    bool // change much
	simpler bool // take something out
	line    int  // change this line alone; 0 means any
	first   bool // change the first program that is shown
	prefer  uint // idioms to use, a bit each
	avoid   uint // idioms not to use
}

// allows reports whether the k-th idiom may be used.
func (w wish) allows(k int) bool {
	if w.prefer != 0 {
		return w.prefer>>k&1 == 1
	}
	return w.avoid>>k&1 == 0
}

var (
	spokenNumbers = regexp.MustCompile(`(?i)\bonly (the )?(constants|numbers|parameters)\b|\btun(e|ing)\b`)
	spokenBold    = regexp.MustCompile(`(?i)\bdifferent\b|\bexplor|\bnew (idea|approach|structure)\b|\bnovel\b`)
	spokenSimpler = regexp.MustCompile(`(?i)\bsimpl(er|ify|ification)\b|\bshort(er|en)\b|\bremov(e|ing)\b`)
	spokenFix     = regexp.MustCompile(`(?i)\b(fix|repair|correct)\b`)
	spokenLine    = regexp.MustCompile(`(?i)\bline (\d{1,6})\b`)
	spokenFirst   = regexp.MustCompile(`(?i)\bprogram to (be )?chang(e|ed) is (program 1|the current program)\b`)
	spokenCross   = regexp.MustCompile(`(?i)\b(combin(e|es|ing)|cross(over)?|merg(e|es|ing)|recombin(e|ing)|splic(e|ing))\b`)
	spokenAgainst = regexp.MustCompile(`(?i)\b(avoid|do not|don't|never|without|worse|hurts?|failed|did not help)\b`)
)

// heeded returns what a reply heeds of prose, each thing with chance p. It draws nothing if p is 0.
func heeded(prose string, p float64, d draw) wish {
	var w wish
	if p <= 0 {
		return w
	}
	w.numbers = spokenNumbers.MatchString(prose) && d.chance(p)
	w.bold = spokenBold.MatchString(prose) && d.chance(p)
	w.simpler = spokenSimpler.MatchString(prose) && d.chance(p)
	w.first = spokenFirst.MatchString(prose) && d.chance(p)
	if spokenFix.MatchString(prose) && d.chance(p) {
		if m := spokenLine.FindStringSubmatch(prose); m != nil {
			w.line, _ = strconv.Atoi(m[1]) // of at most six digits
		}
	}
	for line := range strings.Lines(prose) {
		against := spokenAgainst.MatchString(line)
		for k, i := range idioms {
			switch {
			case !i.spoken.MatchString(line) || !d.chance(p):
			case against:
				w.avoid |= 1 << k
			default:
				w.prefer |= 1 << k
			}
		}
	}
	w.prefer &^= w.avoid
	return w
}

// lastUser returns the last message of a user, or the last of all.
func lastUser(messages []llm.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == llm.User {
			return messages[i].Content
		}
	}
	return messages[len(messages)-1].Content
}

// proseOf returns text without its fenced blocks.
func proseOf(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	at := 0
	for block := range fence.Blocks(text) {
		b.WriteString(text[at:block.Begin])
		at = block.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// editLine changes one line of a program: its numbers, or it takes the line out. It reports false if there is no
// such line.
func editLine(program string, n int, syn lex.Language, d draw) (string, bool) {
	lines := strings.SplitAfter(program, "\n")
	if n < 1 || n > len(lines) || strings.TrimSpace(lines[n-1]) == "" {
		return program, false
	}
	changed := edit(lines[n-1], syn, d)
	if changed == lines[n-1] || d.chance(0.3) {
		changed = ""
	}
	lines[n-1] = changed
	return strings.Join(lines, ""), true
}
