package llm

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// The bounds of the words that [Reply.Clean] leaves of an attempt, in bytes.
const (
	maxFinishReason = 64 // of FinishReason and Kind
	maxErr          = 2 << 10
)

// Clean returns r as a journal keeps it, so that what is recalled is what was acted on: text is UTF-8, with
// U+FFFD for each byte that is not, and what endpoints say of an attempt is one line of bounded length that is
// fit for a terminal: 64 bytes of its finish reason and its kind, 2 KiB of its error.
func (r Reply) Clean() Reply {
	r.Text, r.Reasoning = validText(r.Text), validText(r.Reasoning)
	r.Attempts = slices.Clone(r.Attempts)
	for i := range r.Attempts {
		a := &r.Attempts[i]
		a.FinishReason = cut(printable.Line(a.FinishReason), maxFinishReason)
		a.Kind = cut(printable.Line(a.Kind), maxFinishReason)
		a.Err = cut(printable.Line(a.Err), maxErr)
	}
	return r
}

// validText returns s with U+FFFD for each wrong byte, as JSON will have it.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// cut returns s, or what of it fits into limit bytes, with an ellipsis.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const more = " ..."
	n := limit - len(more)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], " ") + more
}
