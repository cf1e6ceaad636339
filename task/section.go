package task

import (
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// The names of what the searches and tasks of this library show. Others may show more under names of their own.
const (
	ShowInspirations = "inspirations" // other programs, with their scores
	ShowMetrics      = "metrics"      // those of an inspiration, with it
	ShowFeedback     = "feedback"     // metrics and artifacts of a parent, with it
	ShowHints        = "hints"        // findings in the text of a parent ([WithHints])
	ShowAttempts     = "attempts"     // earlier attempts, and what became of them
	ShowAreas        = "areas"        // what to look at
	ShowNotes        = "notes"        // lessons of earlier attempts
)

// ShowNames returns these names.
func ShowNames() []string {
	return []string{ShowInspirations, ShowMetrics, ShowFeedback, ShowHints, ShowAttempts, ShowAreas, ShowNotes}
}

// A Section is a part of a prompt beside the parents: programs, attempts and what became of them, notes.
type Section struct {
	Name  string // by which it is bounded: one of those above, or another
	Title string // stands above the lines
	// Programs are shown with their scores, and must not be changed. Lines are one thought each: a prompt quotes them, so
	// that nothing but programs stands in blocks. Those that come last matter most, as models weigh what comes last most.
	Programs []eval.Candidate
	Lines    []string
	// Stable means that many prompts have the same in a row. It then stands before the parents, so that an endpoint's
	// cache of prefixes has it.
	Stable bool
	// Tokens is the most that Programs and Lines may take, as [Tokens] counts; 0 means 500 for Lines, and no bound for
	// Programs. The first of them are left out if there are too many.
	Tokens int
}

// Notes returns the section of lessons of earlier attempts.
func Notes(lines ...string) Section {
	return Section{Name: ShowNotes, Title: "Notes on earlier attempts", Lines: lines}
}

// Attempts returns the section of earlier attempts, the oldest first, each with what became of it.
func Attempts(lines ...string) Section {
	return Section{Name: ShowAttempts, Title: "Earlier attempts, and what became of them", Lines: lines}
}

// Inspirations returns the section of other programs. Models weigh what comes last most, so ShinkaEvolve shows the best
// last.
func Inspirations(programs ...eval.Candidate) Section {
	return Section{Name: ShowInspirations, Programs: programs, Stable: true}
}

// maxLine bounds a line of a section in a prompt, in bytes. A model writes notes, and may not stop.
const maxLine = 500

// linesTokens is the default bound of a section's lines.
const linesTokens = 500

// bytesPerToken is about that of tokenizers for programs and English.
const bytesPerToken = 4

// Tokens estimates how many tokens a text takes: one for every four bytes, rounded up.
func Tokens(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

// Bounds are how many tokens sections may take at most, by name. 0 leaves a section out. A section without an entry has
// its own bound.
type Bounds map[string]int

// String lists the bounds by name.
func (b Bounds) String() string {
	text := fmt.Sprint(map[string]int(b)) // sorted
	return strings.TrimSuffix(strings.TrimPrefix(text, "map["), "]")
}

// Hide reports whether b leaves out every section of this name. The caller need not compute its lines then.
func (b Bounds) Hide(name string) bool {
	tokens, bounded := b[name]
	return bounded && tokens <= 0
}

// Shown returns the sections of a prompt in the order in which it shows them, as far as they fit their bounds, in lines
// of characters that can be seen. Those of which nothing is left are left out. A task with a prompt of its own shows
// these.
func (a Request) Shown() []Section {
	var shown []Section
	for _, stable := range []bool{true, false} {
		for _, s := range a.Sections {
			if s.Stable != stable {
				continue
			}
			if s = a.fit(s); len(s.Programs)+len(s.Lines) > 0 {
				shown = append(shown, s)
			}
		}
	}
	return shown
}

// fit returns what of s a prompt shows.
func (a Request) fit(s Section) Section {
	s.Title = strings.TrimLeft(clip(printable.Line(s.Title), maxLine), "`~> ") // it must not open a block
	s.Lines = visible(s.Lines)
	tokens, bounded := a.Bounds[s.Name]
	if !bounded {
		tokens, bounded = s.Tokens, s.Tokens > 0
	}
	if !bounded {
		s.Lines = last(s.Lines, linesTokens, Tokens)
		return s
	}
	s.Programs = last(s.Programs, tokens, func(c eval.Candidate) int { return Tokens(c.Program) })
	for _, c := range s.Programs {
		tokens -= Tokens(c.Program)
	}
	s.Lines = last(s.Lines, tokens, Tokens)
	return s
}

// visible returns lines in one line each, of characters that can be seen, without those that are blank.
func visible(lines []string) (list []string) {
	for _, l := range lines {
		if l = clip(printable.Line(l), maxLine); l != "" {
			list = append(list, l)
		}
	}
	return list
}

// last returns the last of list that take at most so many tokens together.
func last[T any](list []T, tokens int, of func(T) int) []T {
	from := len(list)
	for from > 0 && of(list[from-1]) <= tokens {
		from--
		tokens -= of(list[from])
	}
	return list[from:]
}

// bound returns how many bytes a part of the prompt with a bound of its own may take.
func (a Request) bound(name string, bytes int) int {
	if tokens, bounded := a.Bounds[name]; bounded {
		return min(bytes, tokens*bytesPerToken)
	}
	return bytes
}
