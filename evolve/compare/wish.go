package compare

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A wish is what a reply heeds of what the prompt says around its programs.
type wish struct {
	notes   bool   // it asks for notes, and not for a program
	bold    bool   // for something different
	splice  bool   // to combine programs
	numbers bool   // to change numbers alone
	mend    int    // to mend this line
	use     string // a note says to use this word for its kind
}

var (
	spokenNotes   = regexp.MustCompile(`(?i)\bnote what is new\b|\bsummari[sz]e\b|\binsights\b`)
	spokenBold    = regexp.MustCompile(`(?i)\bdifferent\b|\bexplor|\bnovel\b|\bopposite\b|\bsimplest\b|\blimit\b|\banother field\b|\bnew (idea|approach|structure|kind)\b`)
	spokenSplice  = regexp.MustCompile(`(?i)\b(combin(e|es|ing)|cross(over)?|merg(e|es|ing)|recombin(e|ing)|mix)\b`)
	spokenNumbers = regexp.MustCompile(`(?i)\bonly\b.{0,24}\b(constants|numbers|parameters)\b|\btune\b`)
	spokenMend    = regexp.MustCompile(`(?i)\b(fix|repair|mend|correct)\b`)
	spokenLine    = regexp.MustCompile(`(?i)\bline (\d{1,4})\b`)
	spokenUse     = regexp.MustCompile(`(?m)^> Use (\w+:\w+)\.`)
)

// asked returns what a reply heeds.
func (m Model) asked(prose string, programs int, r *rand.Rand) wish {
	var w wish
	if w.notes = m.Insights && spokenNotes.MatchString(prose); w.notes {
		return w
	}
	w.splice = programs > 1 && m.Splice > 0 && spokenSplice.MatchString(prose) && r.Float64() < m.Splice
	w.bold = m.Bold > 0 && spokenBold.MatchString(prose) && r.Float64() < m.Bold
	w.numbers = m.Bold > 0 && spokenNumbers.MatchString(prose)
	if at := spokenLine.FindStringSubmatch(prose); m.Bold > 0 && at != nil && spokenMend.MatchString(prose) {
		w.mend, _ = strconv.Atoi(at[1]) // of at most four digits
	}
	if said := spokenUse.FindAllStringSubmatch(prose, -1); len(said) > 0 && r.Float64() < m.Heed {
		w.use = said[r.IntN(len(said))][1]
	}
	return w
}

// told is an attempt that a prompt tells of: `1. rewrite: "a b" became "a c"; score 0.3, +0.1 over its parent`.
var told = regexp.MustCompile(`"([^"]*)" became "([^"]*)"; score \S+, ([-+][0-9.e-]+) over its parent`)

// insights answers a request for notes with the two words that gained most on average where they were put in. Where few
// attempts are told of, or scores are noisy, it is often wrong.
func insights(prompt string) string {
	type tally struct{ sum, n float64 }
	of := map[string]*tally{}
	for _, attempt := range told.FindAllStringSubmatch(prompt, -1) {
		before, after := strings.Fields(attempt[1]), strings.Fields(attempt[2])
		gain, err := strconv.ParseFloat(attempt[3], 64)
		for i := 0; err == nil && i < min(len(before), len(after)); i++ {
			if word := after[i]; word != before[i] && kindOf(word) != "" {
				if of[word] == nil {
					of[word] = &tally{}
				}
				of[word].sum += gain
				of[word].n++
			}
		}
	}
	var words []string
	for word, t := range of {
		if t.sum > 0 {
			words = append(words, word)
		}
	}
	slices.SortFunc(words, func(a, b string) int {
		if x, y := of[a].sum/of[a].n, of[b].sum/of[b].n; x != y {
			if x > y {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	var b strings.Builder
	b.WriteString("What has worked:\n\n")
	for _, word := range words[:min(2, len(words))] {
		fmt.Fprintf(&b, "- Use %s.\n", word)
	}
	return b.String()
}
