package openai

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// maxExcerpt bounds the excerpt of a body, in runes, and maxFinish a finish reason.
const (
	maxExcerpt = 120
	maxFinish  = 64
)

// clean returns server text fit for a message: one line, no control characters, no key.
func (c *Client) clean(s string) string { return shorten(c.hide(printable.Line(s)), 4*maxExcerpt) }

// redact strikes out the key, which some servers repeat. Very short keys are not secret, and redacting them would only
// garble the text.
func (c *Client) redact(b []byte) []byte {
	key := c.key()
	if len(key) < minKey {
		return b
	}
	return bytes.ReplaceAll(b, []byte(key), []byte(struckOut))
}

// hide strikes the key out of text. Clean the text first, since dropped characters may have stood inside the key, and
// cut it afterwards, since half a key is not recognised.
func (c *Client) hide(s string) string {
	if hidden := c.hidden(); hidden != nil {
		return hidden.ReplaceAllLiteralString(s, struckOut)
	}
	return s
}

const (
	minKey    = 4 // least bytes of a secret key
	struckOut = "[key]"
)

// between matches what may interrupt a still readable key: blanks, combining marks, and characters as escaped in JSON,
// Go and URLs.
const between = `(?:[\pZ\pM\x{FFFD}]|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2})*`

// hidingOf returns a pattern for key in clean text, or nil for a key too short to be secret.
func hidingOf(key string) *regexp.Regexp {
	if len(key) < minKey {
		return nil
	}
	var letters []string
	for _, r := range key {
		letters = append(letters, regexp.QuoteMeta(string(r)))
	}
	return regexp.MustCompile(strings.Join(letters, between))
}

// worded is an error with another text.
type worded struct {
	error
	text string
}

func (e worded) Error() string { return e.text }
func (e worded) Unwrap() error { return e.error }

// tidy returns err with a clean text, since it may quote a server.
func (c *Client) tidy(err error) error {
	if text := c.clean(err.Error()); text != err.Error() {
		return worded{err, text}
	}
	return err
}

// excerpt returns the first words of a body, without markup if it is HTML. hide strikes out secrets.
func excerpt(body []byte, hide func(string) string) string {
	s := string(body[:min(len(body), 1<<16)])
	if strings.HasPrefix(strings.TrimSpace(s), "<") {
		s = withoutTags(s)
	}
	return shorten(hide(printable.Line(strings.ToValidUTF8(s, ""))), maxExcerpt)
}

func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return strings.TrimSpace(string(r[:n])) + "..."
	}
	return s
}

// withoutTags drops tags, and the contents of scripts and styles.
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
