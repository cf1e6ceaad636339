package history

import (
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// mostName is how many bytes a name has.
const mostName = 300

// Name returns text that somebody else wrote in one line that is fit to be shown, cut to a length that a table can
// hold.
func Name(s string) string { return Cut(printable.Line(s[:min(len(s), 4*mostName)]), mostName) }

// label returns the name of a label. Journals keep the first eval.MaxName bytes of one.
func label(s string) string {
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

// A Note is a message and how often it came. A server that fails says the same thousands of times.
type Note struct {
	Time int64 // when it came last
	// "stall", "error", "lost", "abandoned", "refused", "resumed", "raise", "pause", "stop"; "more" for those left out
	Kind  string
	Text  string // in one line that is fit to be shown
	Count int
}

// note counts a message of now.
func (b *builder) note(kind, text string) { b.notes.add(&b.run.Notes, b.run.Clock.Now(), kind, text) }

// notes are distinct messages.
type notes map[[2]string]*Note

// mostNotes is how many distinct messages are kept of each list. One that a server words anew each time (a number of
// the request, a time) must not fill the memory.
const mostNotes = 200

// add counts a message of the list, and keeps when it came last.
func (n notes) add(list *[]*Note, now int64, kind, text string) {
	text = Name(text)
	key := [2]string{kind, text}
	note := n[key]
	if note == nil && len(n) >= mostNotes {
		key = [2]string{"more"}
		kind, text = "more", "other messages, each with words of its own"
		note, now = n[key], 0
	}
	if note == nil {
		note = &Note{Kind: kind, Text: text}
		n[key] = note
		*list = append(*list, note)
	}
	note.Count++
	note.Time = now
}
