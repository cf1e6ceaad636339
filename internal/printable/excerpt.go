package printable

import (
	"regexp"
	"strings"
)

// markup matches tags of HTML, and the contents of scripts and styles.
var markup = regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>|<[^>]*(>|$)`)

// Excerpt returns the beginning of text in one line, of at most so many runes. If it is HTML, it says so and leaves out
// the markup.
func Excerpt(text string, most int) string {
	text = strings.ToValidUTF8(text[:min(len(text), 1<<14)], "")
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		text = "(HTML) " + markup.ReplaceAllString(text, " ")
	}
	line := []rune(Line(text))
	if len(line) > most {
		return strings.TrimSpace(string(line[:most])) + "..."
	}
	return string(line)
}
