// Package printable makes text that a candidate or a model wrote fit for a terminal. Such text can hold
// what a terminal obeys and does not show: sequences that write the clipboard, set the title or clear the
// screen, marks that turn the order of letters round, characters without a width.
package printable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s in one line: its words joined by single blanks, and nothing in it but what can be seen.
func Line(s string) string {
	if plain(s) {
		return s
	}
	return strings.Join(strings.Fields(clean(s)), " ")
}

// Text returns s with its lines and tabs as they are, and nothing else in it but what can be seen. A line
// ends in "\n".
func Text(s string) string { return clean(s) }

// plain reports whether Line has nothing to do: printable ASCII, with single blanks inside.
func plain(s string) bool {
	blank := true // before s
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && blank {
			return false
		}
		blank = c == ' '
	}
	return s == "" || !blank
}

// clean drops escape sequences and what cannot be seen. Whatever follows, none of the characters that begin
// a sequence is kept, so what is left cannot make a new one.
func clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	var ends stringEnds
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == esc || r >= 0x80 && r <= 0x9f:
			i += ends.sequence(s, i)
			continue
		case r == utf8.RuneError:
			b.WriteRune(utf8.RuneError) // also for a byte that is not UTF-8: a terminal may take it for a C1 control
		case r == '\r':
			if !strings.HasPrefix(s[i+size:], "\n") {
				b.WriteByte('\n') // alone it would go back and print over the line
			}
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case Visible(r):
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// Visible reports whether r can be seen, if only together with the letter before it: it is printable and
// not among the letters, marks and selectors of Unicode that are shown as nothing.
func Visible(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		r != brailleBlank
}

const (
	esc          = 0x1b
	bell         = 0x07
	brailleBlank = 0x2800 // a symbol by its class, of the width of a blank and without a dot
)

// stringEnds finds where the strings of control sequences end. A search that found no end is not made again,
// so that many beginnings cost no more than one.
type stringEnds struct{ none bool }

// sequence returns the length of the escape sequence (ECMA-48) that begins at s[i], with the escape character
// or a C1 control. Of one that is not well formed that is its introducer alone, and the rest is text.
func (e *stringEnds) sequence(s string, i int) int {
	r, n := utf8.DecodeRuneInString(s[i:])
	if r == esc {
		if i+n == len(s) || s[i+n] < ' ' || s[i+n] > '~' {
			return n
		}
		r = rune(s[i+n])
		switch {
		case r >= '@' && r <= '_': // a C1 control, in two characters
			r += 0x40
			n++
		case r <= '/': // intermediate characters, then a final one
			return n + finalAfter(s[i+n:], ' ', '/', '0')
		default:
			return n + 1
		}
	}
	switch r {
	case 0x9b: // CSI: parameters and intermediate characters, then a final one
		return n + finalAfter(s[i+n:], ' ', '?', '@')
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // DCS, SOS, OSC, PM, APC: a string
		return n + e.end(s[i+n:])
	}
	return n
}

// finalAfter returns the length of bytes from low to high and the one from final to '~' that ends them, 0 if
// none does.
func finalAfter(s string, low, high, final byte) int {
	i := 0
	for i < len(s) && s[i] >= low && s[i] <= high {
		i++
	}
	if i < len(s) && s[i] >= final && s[i] <= '~' {
		return i + 1
	}
	return 0
}

// end returns the length of s up to the end of a string and with it, 0 if it does not end.
func (e *stringEnds) end(s string) int {
	if e.none {
		return 0
	}
	for i, r := range s {
		switch {
		case r == bell:
			return i + 1
		case r == 0x9c:
			return i + 2
		case r == esc && strings.HasPrefix(s[i+1:], `\`):
			return i + 2
		}
	}
	e.none = true
	return 0
}
