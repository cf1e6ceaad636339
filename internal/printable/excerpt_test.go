package printable

import (
	"strings"
	"testing"
)

func TestExcerpt(t *testing.T) {
	for _, tt := range []struct{ reason, text, want string }{
		{"short", "a\nb", "a b"},
		{"cut at a blank", strings.Repeat("x", 9) + " y", strings.Repeat("x", 9) + "..."},
		{"cut within a character that is no UTF-8", "a\xe2\x82", "a"},
		{"a page with a style", "<html><style>p{}</style><title>502</title><p>Bad</p></html>", "(HTML) 502..."},
		{"a tag that does not end", "<html", "(HTML)"},
		{"what a terminal obeys", "a\x1b[2Jb", "ab"},
	} {
		if got := Excerpt(tt.text, 10); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
	}
}
