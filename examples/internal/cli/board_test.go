package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/runtest"
)

// Where there is no terminal, a Board prints its lines, cleaned, and no table. It says when the program is stopping.
func TestBoardWithoutATerminal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	text := runtest.Output(t, func() {
		b := NewBoard(ctx, []BoardRow{{Name: "row", Total: 4}}, nil)
		b.Set(0, 2, "half")
		b.Printf("%d of 4\x1b[2J", 2)
		if b.Live() {
			t.Error("a table is shown in a pipe")
		}
		if got := b.behind(0); got != "half" {
			t.Errorf("behind the bar stands %q", got)
		}
		b.Set(0, 2, "\x1b]0;title\x07plain")
		if got := b.behind(0); strings.ContainsRune(got, '\x1b') || !strings.Contains(got, "plain") {
			t.Errorf("behind the bar stands %q", got)
		}
		b.Close()
		cancel() // after Close, nothing is said
	})
	if text != "2 of 4\n" {
		t.Errorf("printed %q", text)
	}
}
