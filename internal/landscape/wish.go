package landscape

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

// What the words of a prompt ask for. They are looked up one by one: patterns would take most of a study's time.
var (
	boldWords   = []string{"different", "novel", "opposite", "simplest", "limit"}
	boldPhrases = []string{"another field", "new idea", "new approach", "new structure", "new kind"}
	spliceWords = []string{"combine", "combines", "combining", "cross", "crossover", "merge", "merges", "merging",
		"recombine", "recombining", "mix"}
	mendWords   = []string{"fix", "repair", "mend", "correct"}
	notePhrases = []string{"note what is new", "summarise", "summarize", "insights"}

	spokenNumbers = regexp.MustCompile(`\bonly\b.{0,24}\b(constants|numbers|parameters)\b`)
	spokenLine    = regexp.MustCompile(`\bline (\d{1,4})\b`)
	spokenUse     = regexp.MustCompile(`(?m)^> use (\w+:\w+)\.`)
)

// asked returns what a reply heeds.
func (m Model) asked(prose string, programs int, r *rand.Rand) wish {
	var w wish
	prose = strings.ToLower(prose)
	if w.notes = m.Insights && says(prose, notePhrases); w.notes {
		return w
	}
	words := strings.FieldsFunc(prose, func(r rune) bool { return r < 'a' || r > 'z' })
	w.splice = programs > 1 && m.Splice > 0 && hasOne(words, spliceWords) && r.Float64() < m.Splice
	w.bold = m.Bold > 0 && (hasOne(words, boldWords) || says(prose, boldPhrases) || strings.Contains(prose, " explor")) &&
		r.Float64() < m.Bold
	w.numbers = m.Bold > 0 &&
		(slices.Contains(words, "tune") || slices.Contains(words, "only") && spokenNumbers.MatchString(prose))
	if m.Bold > 0 && hasOne(words, mendWords) {
		if at := spokenLine.FindStringSubmatch(prose); at != nil {
			w.mend, _ = strconv.Atoi(at[1]) // of at most four digits
		}
	}
	if m.Heed == 0 {
		return w
	}
	if said := spokenUse.FindAllStringSubmatch(prose, -1); len(said) > 0 && r.Float64() < m.Heed {
		w.use = said[r.IntN(len(said))][1]
	}
	return w
}

// says reports whether a text has one of the phrases.
func says(text string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
}

// hasOne reports whether one of the words is among those of a list.
func hasOne(words, list []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
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

// failed reports whether a prompt tells of the change that makes after of before as an attempt that was not better. It
// tells of the first line that a change is in, or of a piece of it: `worse: "a b" became "a c"; ...`.
func failed(prose, before, after string) bool {
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	at := 0
	for at < min(len(old), len(now)) && old[at] == now[at] {
		at++
	}
	if at == min(len(old), len(now)) {
		return false
	}
	for line := range strings.Lines(prose) {
		m := became.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(line, "> better: ") {
			continue
		}
		head, tail, found := strings.Cut(old[at], strings.TrimSuffix(m[1], "..."))
		head2, tail2, found2 := strings.Cut(now[at], strings.TrimSuffix(m[2], "..."))
		if found && found2 && head == head2 && tail == tail2 {
			return true
		}
	}
	return false
}

// became is what an attempt says of a change.
var became = regexp.MustCompile(`"([^"]+)" became "([^"]+)"; `)
