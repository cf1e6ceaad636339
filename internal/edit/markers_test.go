package edit

import (
	"slices"
	"strings"
	"testing"
)

const marked1 = "import math\n# EVOLVE-BLOCK-START\nx = 1\ny = 2\n# EVOLVE-BLOCK-END\nprint(x)\n"

const marked2 = `package p
// EVOLVE-BLOCK-START
var a = 1
// EVOLVE-BLOCK-END

func f() {
	// EVOLVE-BLOCK-START first
	g()
	/* EVOLVE-BLOCK-END */
}
`

func TestRestore(t *testing.T) {
	edit := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	tests := []struct{ name, parent, program, want, reason string }{
		{"inside", marked1, edit(marked1, "x = 1", "x = 7"), edit(marked1, "x = 1", "x = 7"), "the plain case"},
		{"outside", marked1, edit(marked1, "math", "os", "print(x)", "print(9)"), marked1, "what lies outside is restored"},
		{"both", marked1, edit(marked1, "math", "os", "x = 1", "x = 7"), edit(marked1, "x = 1", "x = 7"),
			"and the inside kept"},
		{"outside lost", marked1, "# EVOLVE-BLOCK-START\nz\n# EVOLVE-BLOCK-END", edit(marked1, "x = 1\ny = 2", "z"),
			"all of the outside may be missing"},
		{"more outside", marked1, "a\n" + edit(marked1, "y = 2\n", "") + "b\n", edit(marked1, "y = 2\n", ""),
			"or there may be more of it"},
		{"marker lines", marked1, edit(marked1, "# EVOLVE-BLOCK-START", "#EVOLVE-BLOCK-START: here"), marked1,
			"marker lines are outside"},
		{"empty block", marked1, edit(marked1, "x = 1\ny = 2\n", ""), edit(marked1, "x = 1\ny = 2\n", ""),
			"a block may be empty"},
		{"two", marked2, edit(marked2, "a = 1", "a = 2", "g()", "h()"), edit(marked2, "a = 1", "a = 2", "g()", "h()"),
			"each block where it belongs"},
		{"between", marked2, edit(marked2, "func f()", "func x()", "g()", "h()"), edit(marked2, "g()", "h()"),
			"what lies between blocks is outside"},
		{"CRLF", crlf(marked1), edit(marked1, "math", "os", "x = 1", "x = 7"), crlf(edit(marked1, "x = 1", "x = 7")),
			"line ends are the parent's"},
		{"LF", marked1, crlf(edit(marked1, "x = 1", "x = 7")), edit(marked1, "x = 1", "x = 7"), "also the other way"},
		{"no last line end", strings.TrimSpace(marked1), edit(marked1, "x = 1", "x = 7"),
			strings.TrimSpace(edit(marked1, "x = 1", "x = 7")), "to the byte"},
		{"markers only", "# EVOLVE-BLOCK-START\n# EVOLVE-BLOCK-END", "# EVOLVE-BLOCK-START\nx\n# EVOLVE-BLOCK-END\ny",
			"# EVOLVE-BLOCK-START\nx\n# EVOLVE-BLOCK-END", "no outside but the markers"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, _, err := Restore(tt.parent, tt.program); got != tt.want || err != nil {
				t.Errorf("got %q, %v, want %q: %s", got, err, tt.want, tt.reason)
			}
		})
	}
}

func TestRestoreErrors(t *testing.T) {
	const start, end = "# EVOLVE-BLOCK-START\n", "# EVOLVE-BLOCK-END\n"
	tests := []struct{ parent, program, want, reason string }{
		{marked1, "x = 9\n", "it has lost 2 of 2 EVOLVE-BLOCK markers: it holds neither what stands outside of the block nor a line of the block", "it could be anything"},
		{marked2, start + "x\n" + end, "it has lost 2 of 4 EVOLVE-BLOCK markers: it does not hold all that stands outside of the blocks",
			"which of two is it?"},
		{marked1, marked1 + marked1, "it has 2 blocks between EVOLVE-BLOCK markers: need 1",
			"which of two is it?"},
		{marked1, start + start + "x\n" + end,
			"its EVOLVE-BLOCK markers: line 2 begins a block inside the one that line 1 begins", "nested"},
		{marked1, start + "x\n" + end + end, "its EVOLVE-BLOCK markers: line 4 ends a block that none begins",
			"one end too many"},
		{marked1, "a\n" + start + "x\n",
			"it has lost 1 of 2 EVOLVE-BLOCK markers: it holds neither what stands outside of the block nor a line of the block", "cut short"},
		{marked1, end + "x\n" + start, "its EVOLVE-BLOCK markers: line 1 ends a block that none begins",
			"the wrong way round"},
		{"x", marked1, "the parent has no EVOLVE-BLOCK markers", "there is nothing to go by"},
		{start, marked1, "the parent's EVOLVE-BLOCK markers: the block that line 1 begins does not end", "nor here"},
	}
	for _, tt := range tests {
		if got, _, err := Restore(tt.parent, tt.program); got != "" || err == nil || err.Error() != tt.want {
			t.Errorf("Restore(%q, %q) = %q, %v, want %s: %s", tt.parent, tt.program, got, err, tt.want, tt.reason)
		}
	}
}

func TestMarkerOf(t *testing.T) {
	tests := []struct {
		line   string
		want   marker
		reason string
	}{
		{"# EVOLVE-BLOCK-START", startMarker, "Python"},
		{"  //EVOLVE-BLOCK-END", endMarker, "C, indented, no space"},
		{"/* EVOLVE-BLOCK-START */", startMarker, "C, closed"},
		{"-- EVOLVE-BLOCK-START", startMarker, "SQL, Haskell, Lua"},
		{";; EVOLVE-BLOCK-END", endMarker, "Lisp"},
		{"% EVOLVE-BLOCK-END", endMarker, "TeX, Prolog"},
		{"<!-- EVOLVE-BLOCK-START -->", startMarker, "HTML, Markdown"},
		{"(* EVOLVE-BLOCK-START *)", startMarker, "OCaml"},
		{"REM EVOLVE-BLOCK-START", startMarker, "BASIC"},
		{"C     EVOLVE-BLOCK-END", endMarker, "Fortran 77"},
		{"\ufeff# EVOLVE-BLOCK-START", startMarker, "after a byte order mark"},
		{"EVOLVE-BLOCK-START", startMarker, "prompts that evolve have no comments"},
		{"# EVOLVE-BLOCK-START: the kernel", startMarker, "with a remark"},
		{"x = 1  # EVOLVE-BLOCK-END", endMarker, "after code"},
		{"f(); // EVOLVE-BLOCK-END ", endMarker, "after code"},
		{"f(); /* EVOLVE-BLOCK-END */", endMarker, "after code, closed"},
		{"# EVOLVE-BLOCK-STARTED", noMarker, "another word"},
		{"# EVOLVE-BLOCK-END_OF_FILE", noMarker, "another word"},
		{"# EVOLVE-BLOCK-", noMarker, "half a marker"},
		{"# evolve-block-start", noMarker, "capitals are part of it"},
		{`print("EVOLVE-BLOCK-START")`, noMarker, "a string"},
		{`s = "# EVOLVE-BLOCK-START"`, noMarker, "a string with a sign"},
		{"# Between EVOLVE-BLOCK-START and EVOLVE-BLOCK-END", noMarker, "talk of markers"},
		{"MY_EVOLVE-BLOCK-START", noMarker, "a part of a name"},
		{"", noMarker, "nothing"},
	}
	for _, tt := range tests {
		if got := markerOf(tt.line); got != tt.want {
			t.Errorf("markerOf(%q) = %d, want %d: %s", tt.line, got, tt.want, tt.reason)
		}
	}
}

// What lies outside is always the parent's, to the byte, and what is made of a program can be a
// parent in turn.
func FuzzRestore(f *testing.F) {
	f.Add(marked1, strings.ReplaceAll(marked1, "1", "2"))
	f.Add(marked2, marked2)
	f.Add(marked1, "import math\nx = 7\nprint(x)\n")
	f.Add(marked1, "x = 1\ny = 7\n")
	f.Add(marked2, unmark(marked2))
	f.Add("a # EVOLVE-BLOCK-START\r\n# EVOLVE-BLOCK-END", "EVOLVE-BLOCK-START\nx\r\nEVOLVE-BLOCK-END")
	f.Fuzz(func(t *testing.T, parent, program string) {
		got, _, err := Restore(parent, program)
		if err != nil {
			if got != "" {
				t.Fatalf("%q with error %v", got, err)
			}
			return
		}
		want, _ := splitMarked(parent)
		m, err := splitMarked(got)
		if err != nil || len(m.inside) != len(want.inside) ||
			!slices.EqualFunc(m.outside, want.outside, slices.Equal[[]line]) {
			t.Fatalf("Restore(%q, %q) = %q: the outside has changed: %v", parent, program, got, err)
		}
		if again, _, err := Restore(parent, got); again != got || err != nil {
			t.Fatalf("Restore(%q, %q) = %q, and of that %q, %v", parent, program, got, again, err)
		}
	})
}
