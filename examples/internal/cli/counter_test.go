package cli

import (
	"strings"
	"testing"
)

// Where there is no bar, a line says how far it is, and not for every step.
func TestCounterWithoutBar(t *testing.T) {
	var out, notes strings.Builder
	c := &Counter{out: &out, notes: &notes, what: "runs", of: 3}
	for range 3 {
		c.Step()
	}
	c.Print("a table")
	c.Close()
	if notes.String() != "1/3 runs\n" || out.String() != "a table\n" {
		t.Errorf("notes %q, output %q", notes.String(), out.String())
	}
}
