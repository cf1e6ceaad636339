package llm

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// The bounds of an attempt's texts after [Reply.Clean], in bytes.
const (
	maxFinishReason = 64 // of FinishReason and Kind
	maxErr          = 2 << 10
)

// Clean returns r as a journal keeps it, so that a recalled reply equals the original: text is UTF-8, with U+FFFD for
// each other byte, in its calls of tools too. The endpoint's words about an attempt are single lines that are fit for a
// terminal, of at most 64 bytes for finish reason and kind and 2 KiB for the error. Usage is plausible ([Usage.Clean]).
// The cap on new tokens and the count of streamed tokens are limited alike. Money outside [0, 10⁹] becomes 0. A
// propensity outside (0, 1] becomes 0.
func (r Reply) Clean() Reply {
	r.Text, r.Reasoning = validText(r.Text), validText(r.Reasoning)
	r.Calls = slices.Clone(r.Calls)
	for i, c := range r.Calls {
		r.Calls[i] = ToolCall{ID: validText(c.ID), Name: validText(c.Name), Arguments: validText(c.Arguments)}
	}
	r.Attempts = slices.Clone(r.Attempts)
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Usage != nil {
			u := a.Usage.Clean()
			a.Usage = &u
		}
		a.MaxTokens, a.Streamed = tokens(a.MaxTokens), tokens(a.Streamed)
		if !(a.Money > 0 && a.Money <= mostMoney) { // NaN too
			a.Money = 0
		}
		a.FinishReason = cut(printable.Line(a.FinishReason), maxFinishReason)
		a.Kind = cut(printable.Line(a.Kind), maxFinishReason)
		a.Err = cut(printable.Line(a.Err), maxErr)
	}
	return r
}

// validText returns s with U+FFFD for each wrong byte, as encoding/json writes it.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// cut returns s, or its beginning with an ellipsis in limit bytes.
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
