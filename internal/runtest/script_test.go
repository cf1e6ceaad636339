package runtest

import (
	"strings"
	"testing"
)

func TestPlayScript(t *testing.T) {
	shout := func(lines []string) string { return strings.ToUpper(strings.Join(lines, "+")) }
	const script = "# a comment\n# of two lines\n\na\nb\n----\nwrong\nby two\n\nc\n----\nC\n"
	if got, want := playScript(script, shout),
		"# a comment\n# of two lines\n\na\nb\n----\nA+B\n\nc\n----\nC\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
