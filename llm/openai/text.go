package openai

import (
	"bytes"
	"strings"
	"unicode"
)

// maxExcerpt bounds what is shown of a body, in runes.
const maxExcerpt = 120

// clean makes server text fit for a message: one line, no control characters, no key.
func (c *Client) clean(s string) string {
	return shorten(oneLine(string(c.redact([]byte(s)))), 4*maxExcerpt)
}

// redact strikes out the key, which some servers repeat. Very short keys are no secrets, and
// striking them out would only garble the text.
func (c *Client) redact(b []byte) []byte {
	key := c.key()
	if len(key) < 4 {
		return b
	}
	return bytes.ReplaceAll(b, []byte(key), []byte("[key]"))
}

// excerpt returns the first words of a body, without markup if it is HTML.
func excerpt(body []byte) string {
	s := string(body[:min(len(body), 1<<14)])
	if strings.HasPrefix(strings.TrimSpace(s), "<") {
		s = withoutTags(s)
	}
	return shorten(oneLine(s), maxExcerpt)
}

// oneLine joins s's words by single blanks and leaves out what is not printable.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return strings.TrimSpace(string(r[:n])) + "..."
	}
	return s
}

// withoutTags drops what stands between < and >, and the contents of scripts and styles.
func withoutTags(s string) string {
	var b strings.Builder
	for {
		text, rest, ok := strings.Cut(s, "<")
		b.WriteString(text)
		b.WriteByte(' ')
		if !ok {
			return b.String()
		}
		tag, after, _ := strings.Cut(rest, ">")
		s = after
		for _, name := range []string{"script", "style"} {
			if strings.HasPrefix(strings.ToLower(tag), name) {
				_, s, _ = strings.Cut(after, "</"+name+">")
			}
		}
	}
}
