package edit

import (
	"strings"
	"testing"
)

// unmark returns program without its lines that are markers.
func unmark(program string) string {
	var kept []line
	for _, l := range linesOf(program) {
		if markerOf(l.text) == noMarker {
			kept = append(kept, l)
		}
	}
	return join(kept)
}

const onCodeLines = "{ // EVOLVE-BLOCK-START\na()\nb() // EVOLVE-BLOCK-END\n}\n"

const blanks = "import a\n\n\n# EVOLVE-BLOCK-START\n\ndef f():\n    return 1\n\n# EVOLVE-BLOCK-END\n\n\nprint(f())\n"

const indented = "def f():\n    # EVOLVE-BLOCK-START\n    x = 1\n    return x\n    # EVOLVE-BLOCK-END\n"

func TestUnmarked(t *testing.T) {
	edit := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	tests := []struct{ name, parent, program, want, reason string }{
		{"whole", marked1, "import math\nx = 7\nprint(x)\n", edit(marked1, "x = 1\ny = 2", "x = 7"),
			"what stands outside is at the ends"},
		{"unchanged", marked1, unmark(marked1), marked1, "the parent without marker lines is the parent, to the byte"},
		{"blank lines", blanks, unmark(blanks), blanks, "also where it has blank lines"},
		{"white space", blanks, "import  a\n\ndef f():\n    return 2\nprint(f())",
			edit(blanks, "\n\ndef", "\ndef", "return 1\n\n", "return 2\n"), "blank lines and spaces may differ outside"},
		{"nothing inside", marked1, "import math\nprint(x)", edit(marked1, "x = 1\ny = 2\n", ""), "a block may be empty"},
		{"CRLF", edit(marked1, "\n", "\r\n"), "import math\nx = 7\nprint(x)",
			edit(marked1, "x = 1\ny = 2", "x = 7", "\n", "\r\n"), "line ends are the parent's"},
		{"code before markers", onCodeLines, "{\na2()\nb()\n}", edit(onCodeLines, "a()", "a2()"),
			"the code on a marker's line stays, the comment does not count"},
		{"two blocks", marked2, edit(unmark(marked2), "a = 1", "a = 2", "g()", "h()\n\tg()"),
			edit(marked2, "a = 1", "a = 2", "g()", "h()\n\tg()"), "what stands between blocks says where they end"},
		{"no outside", "# EVOLVE-BLOCK-START\nx\n# EVOLVE-BLOCK-END", "y", "# EVOLVE-BLOCK-START\ny\n# EVOLVE-BLOCK-END",
			"all of the program is the block"},
		{"inside alone", marked1, "x = 1\ny = 7\nz = 3", edit(marked1, "y = 2", "y = 7\nz = 3"),
			"one block, a line of which is known"},
		{"start lost", marked1, edit(marked1, "# EVOLVE-BLOCK-START\n", "", "x = 1", "x = 7"), edit(marked1, "x = 1",
			"x = 7"),
			"the text before the block says where it begins"},
		{"end lost", marked1, edit(marked1, "# EVOLVE-BLOCK-END\n", "", "x = 1", "x = 7"), edit(marked1, "x = 1", "x = 7"),
			"the text after it says where it ends"},
		{"start lost, more after", marked1, edit(marked1, "# EVOLVE-BLOCK-START\n", "", "x = 1", "x = 7", "print(x)",
			"print(9)"),
			edit(marked1, "x = 1", "x = 7"), "outside the marker that is there the text does not count"},
		{"end lost, more before", marked1, edit(marked1, "# EVOLVE-BLOCK-END\n", "", "x = 1", "x = 7", "math", "math, os"),
			edit(marked1, "x = 1", "x = 7"), "nor before it"},
		{"one of four lost", marked2, edit(marked2, "// EVOLVE-BLOCK-END\n", "", "a = 1", "a = 2"), edit(marked2,
			"a = 1", "a = 2"),
			"also between blocks"},
		{"inside alone, start lost", marked1, "x = 1\ny = 7\n# EVOLVE-BLOCK-END\n", edit(marked1, "y = 2", "y = 7"),
			"a line of the block is known"},
		{"inside alone, indentation lost", indented, "x = 7\nreturn x", edit(indented, "x = 1", "x = 7"),
			"it gets that of the block"},
		{"inside alone, with its indentation", indented, "    x = 7\n    return x", edit(indented, "x = 1", "x = 7"),
			"or keeps it"},
		{"tail is empty", strings.TrimSuffix(marked1, "print(x)\n"), "import math\nx = 7",
			edit(strings.TrimSuffix(marked1, "print(x)\n"), "x = 1\ny = 2", "x = 7"), "nothing stands after the block"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, _, err := Restore(tt.parent, tt.program); got != tt.want || err != nil {
				t.Errorf("got %q, %v, want %q: %s", got, err, tt.want, tt.reason)
			}
		})
	}
}

func TestUnmarkedErrors(t *testing.T) {
	twice := strings.Replace(unmark(marked2), "var a = 1", "func f() {\n}\nvar a = 1", 1)
	adjacent := "# EVOLVE-BLOCK-START\nx\n# EVOLVE-BLOCK-END\n\n# EVOLVE-BLOCK-START\ny\n# EVOLVE-BLOCK-END\n"
	tests := []struct{ parent, program, want, reason string }{
		{marked1, "import math\nimport os\nx = 7\nprint(x + 1)", "some of what stands outside",
			"a whole program that changes what stands outside: its block could begin anywhere"},
		{marked1, "import math\nx = 1\n", "some of what stands outside", "half of the outside is lost"},
		{marked1, "I cannot do that.", "neither what stands outside", "no program"},
		{marked1, "}\n{\n", "neither what stands outside", "braces tell nothing"},
		{marked2, "var a = 2", "does not hold all that stands outside", "the inside of one of two blocks"},
		{marked2, twice, "more than one way to cut it", "what stands between the blocks is there twice"},
		{adjacent, "x\ny\n", "more than one way to cut it", "nothing stands between the blocks"},
	}
	for _, tt := range tests {
		got, _, err := Restore(tt.parent, tt.program)
		if got != "" || err == nil || !strings.Contains(err.Error(), tt.want) ||
			!strings.HasPrefix(err.Error(), "it has lost ") {
			t.Errorf("Restore(%q, %q) = %q, %v, want %s: %s", tt.parent, tt.program, got, err, tt.want, tt.reason)
		}
	}
}

// A program without markers is put back as it was, whatever it is, or refused.
func FuzzUnmarked(f *testing.F) {
	for _, s := range []string{marked1, marked2, blanks, onCodeLines} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, parent string) {
		m, err := splitMarked(parent)
		if err != nil || len(m.inside) == 0 || strings.Contains(parent, "\r") {
			return
		}
		for _, l := range linesOf(parent) {
			if markerOf(l.text) != noMarker && len(withoutMarkers([]line{l})) > 0 {
				return // its code would be lost too
			}
		}
		got, _, err := Restore(parent, unmark(parent))
		if got != parent && (err == nil || len(m.inside) == 1) {
			t.Fatalf("of %q without its markers: %q, %v", parent, got, err)
		}
	})
}
