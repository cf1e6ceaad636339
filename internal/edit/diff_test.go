package edit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// diff applies the blocks of text.
func diff(parent, text string) (string, error) {
	blocks, err := Blocks(strings.ReplaceAll(text, "\r\n", "\n"))
	if err != nil {
		return "", err
	}
	return Apply(parent, blocks)
}

// blk is a block.
func blk(search, replace string) string {
	return SearchLine + "\n" + search + MiddleLine + "\n" + replace + ReplaceLine + "\n"
}

const parent1 = "import math\n\ndef f(x):\n    y = 1\n    return y\n\ndef g(x):\n    return 2\n"

func TestDiff(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(parent1, old, new, 1) }
	tests := []struct{ name, parent, reply, want, reason string }{
		{"one", parent1, blk("    y = 1\n", "    y = 3\n"), with("y = 1", "y = 3"),
			"the plain case"},
		{"talk around", parent1, "I change it.\n\n" + blk("    y = 1\n", "    y = 3\n") + "\nDone.", with("y = 1", "y = 3"),
			"text around blocks is no part of them"},
		{"fenced", parent1, "```python\n" + blk("    y = 1\n", "    y = 3\n") + "```\n", with("y = 1", "y = 3"),
			"models fence blocks with the language"},
		{"fenced as diff", parent1, "```diff\n" + blk("    y = 1\n", "    y = 3\n") + "```\n", with("y = 1", "y = 3"),
			"or as a diff"},
		{"two", parent1, blk("    y = 1\n", "    y = 3\n") + blk("    return 2\n", "    return 4\n"),
			strings.Replace(with("y = 1", "y = 3"), "return 2", "return 4", 1), "in order"},
		{"upwards", parent1, blk("    return 2\n", "    return 4\n") + blk("    y = 1\n", "    y = 3\n"),
			strings.Replace(with("y = 1", "y = 3"), "return 2", "return 4", 1), "blocks may go up the program"},
		{"on the first's work", parent1, blk("    y = 1\n", "    y = 3\n    z = 5\n") + blk("    z = 5\n", "    z = 6\n"),
			with("y = 1\n", "y = 3\n    z = 6\n"), "a block sees what the ones before made"},
		{"more lines", parent1, blk("def g(x):\n    return 2\n", "def g(x):\n    if x:\n        return 1\n    return 2\n"),
			with("def g(x):\n", "def g(x):\n    if x:\n        return 1\n"), "the number of lines may change"},
		{"delete", parent1, blk("def g(x):\n    return 2\n", ""), "import math\n\ndef f(x):\n    y = 1\n    return y\n\n",
			"nothing in their place deletes whole lines"},
		{"blank line in place", parent1, blk("    y = 1\n", "\n"), with("    y = 1\n", "\n"),
			"a blank line in their place is one"},
		{"first line", parent1, blk("import math\n", "import numpy\n"), with("math", "numpy"), "at the beginning"},
		{"last line, no line end", "a\nb", blk("b\n", "c\nd\n"), "a\nc\nd", "the end stays as it was"},
		{"delete last, no line end", "a\nb", blk("b\n", ""), "a\n", "the line before keeps its end"},
		{"CRLF reply", parent1, strings.ReplaceAll(blk("    y = 1\n", "    y = 3\n"), "\n", "\r\n"), with("y = 1", "y = 3"),
			"line ends of the reply do not matter"},
		{"CRLF parent", "a\r\nb\r\nc\r\n", blk("b\n", "x\ny\n"), "a\r\nx\r\ny\r\nc\r\n",
			"new lines end like the old ones, and the others stay as they are"},
		{"mixed ends", "a\r\nb\nc\r\n", blk("b\n", "x\ny\n"), "a\r\nx\ny\nc\r\n", "the replaced lines decide"},
		{"trailing white space", "a  \nb\t\nc\n", blk("a\nb\n", "x\n"), "x\nc\n",
			"models lose white space at the ends of lines"},
		{"exact first", "a \na\n", blk("a\n", "b\n"), "a \nb\n",
			"a line that is there as written is meant, not one like it"},
		{"blank lines around", parent1, blk("\n    y = 1\n\n", "\n    y = 3\n\n"), with("y = 1", "y = 3"),
			"blank lines that only frame the text are dropped with it"},
		{"blank lines that count", "a\n\nb\n\nb\n", blk("\nb\n\n", "c\n"), "a\nc\nb\n",
			"but not if they are there"},
		{"indented block", parent1, "1. First:\n\n   " +
			strings.ReplaceAll(strings.TrimSpace(blk("    y = 1\n", "    y = 3\n\n")), "\n", "\n   "),
			with("y = 1\n", "y = 3\n\n"), "in a list the whole block is indented"},
		{"markers indented like the code", parent1, "    " + SearchLine + "\n    y = 1\n    " + MiddleLine +
			"\n    y = 3\n    " + ReplaceLine,
			with("y = 1", "y = 3"), "the text as written goes before the text moved left"},
		{"white space after a delimiter", parent1, SearchLine + "  \n    y = 1\n" + MiddleLine + "\t\n    y = 3\n" +
			ReplaceLine + " \n",
			with("y = 1", "y = 3"), "it does not show"},
		{"heading", "Title\n=======\ntext\n", blk("Title\n=======\n", "Name\n=======\n"), "Name\n=======\ntext\n",
			"a program with such lines itself: the longest SEARCH that is there"},
		{"heading in REPLACE", "=======\nA\ntext\n", blk("A\n", "A\n=======\nB\n"), "=======\nA\n=======\nB\ntext\n",
			"a longer SEARCH is not there"},
		{"blank parent", "\n", blk("", "a\n"), "a\n", "an empty SEARCH fills a blank program"},
		{"white space", "def f(x):\n    y = x\n", blk("def f(x):\n  y = x  \n", "def f(x):\n    y = 2 * x\n"),
			"def f(x):\n    y = 2 * x\n", "REPLACE has the program's own indentation already"},
		{"in a line", "y = f(x, 1)\n", blk("y=f(x,1)\n", "y=f(x,2)\n"), "y=f(x,2)\n", "anywhere in a line"},
		{"no indentation", parent1, blk("y = 1\nreturn y\n", "y = 3\nreturn y\n"), with("y = 1", "y = 3"),
			"the lines get the program's"},
		{"no indentation, nested", "for a in b:\n    if a:\n        c(a)\n    d()\n",
			blk("for a in b:\nif a:\nc(a)\nd()\n", "for a in b:\nif a:\ne(a)\nd()\n"),
			"for a in b:\n    if a:\n        e(a)\n    d()\n", "each that of the line which it stands for"},
		{"two columns for four", "def f(x):\n    if x:\n        a()\n",
			blk("def f(x):\n  if x:\n    a()\n", "def f(x):\n  if x:\n    while x:\n      a()\n"),
			"def f(x):\n    if x:\n        while x:\n            a()\n", "in proportion"},
		{"spaces for tabs", "func f() {\n\ta()\n}\n", blk("    a()\n", "    if x {\n        a()\n    }\n"),
			"func f() {\n\tif x {\n\t\ta()\n\t}\n}\n", "in the program's own signs"},
		{"moved right", parent1, blk("        y = 1\n        return y\n", "        while x:\n            y = 3\n"),
			with("    y = 1\n    return y\n", "    while x:\n        y = 3\n"), "as far as SEARCH is"},
		{"blank lines inside", "a\nb\nc\n", blk("a\n\nb\n", "d\n"), "d\nc\n", "blank lines are white space too"},
		{"least different first", "  a\na\t\n", blk("a\n", "b\n"), "  a\nb\n", "what differs at its end alone is meant"},
		{"six signs", parent1, "```python\n<<<<<< SEARCH\n    y = 1\n======\n    y = 3\n>>>>>> REPLACE\n```",
			with("y = 1", "y = 3"),
			"models miscount"},
		{"nine signs", parent1, "<<<<<<<<< SEARCH\n    y = 1\n=========\n    y = 3\n>>>>>>>>> REPLACE\n",
			with("y = 1", "y = 3"),
			"both ways"},
		{"colon and lower case", parent1, "<<<<<<< search:\n    y = 1\n=======\n    y = 3\n>>>>>>> replace:\n",
			with("y = 1", "y = 3"), "another spelling"},
		{"other words", parent1, "<<<<<<< ORIGINAL\n    y = 1\n=======\n    y = 3\n>>>>>>> UPDATED\n", with("y = 1", "y = 3"),
			"an older form"},
		{"other signs", parent1, "------- SEARCH\n    y = 1\n=======\n    y = 3\n+++++++ REPLACE\n", with("y = 1", "y = 3"),
			"Cline's form"},
		{"underlines", "Title\n=====\na\n", blk("Title\n=====\n", "Name\n=====\n"), "Name\n=====\na\n",
			"a line of five is no divider where there is one of seven"},
		{"talk of the words", parent1, "I SEARCH the line and REPLACE it:\nSEARCH\n" + blk("    y = 1\n", "    y = 3\n") +
			"so x << 1 and >>> are REPLACE'd.\n", with("y = 1", "y = 3"), "words without signs are text"},
		{"unified", parent1,
			"```diff\n--- a/p.py\n+++ b/p.py\n@@ -3,3 +3,3 @@ def\n def f(x):\n-    y = 1\n+    y = 3\n     return y\n```",
			with("y = 1", "y = 3"), "a diff of the other kind"},
		{"unified, wrong numbers", parent1,
			"Here:\n\n@@ -30,9 +12 @@\n-    y = 1\n+    y = 3\n@@ -99 +99 @@\n def g(x):\n-    return 2\n" +
				"+    return 4\n\nDone.", strings.Replace(with("y = 1", "y = 3"), "return 2", "return 4", 1),
			"the text says where"},
		{"a patch of Codex", parent1, "*** Begin Patch\n*** Update File: p.py\n@@ def f\n-    y = 1\n+    y = 3\n*** End Patch",
			with("y = 1", "y = 3"), "hunks without numbers"},
		{"unified, no head", parent1, "```diff\n-    y = 1\n+    y = 3\n```", with("y = 1", "y = 3"), "signs alone"},
		{"unified, no heads, two", parent1, "```diff\n-    y = 1\n+    y = 3\n-    return 2\n+    return 4\n```",
			strings.Replace(with("y = 1", "y = 3"), "return 2", "return 4", 1), "changes at two places"},
		{"unified, signs lost", parent1, "```diff\n@@ -3 +3 @@\ndef f(x):\n-    y = 1\n+    y = 3\nreturn y\n```",
			with("y = 1", "y = 3"), "context without its space"},
		{"unified, a comment removed", "x()\n-- old\ny()\n", "```diff\n@@ -1,3 +1,2 @@\n x()\n--- old\n y()\n```",
			"x()\ny()\n",
			"no header without its second line"},
		{"a fence in each part", parent1, blk("```python\n    y = 1\n```\n", "\n```python\n    y = 3\n```\n\n"),
			with("y = 1", "y = 3"), "a fence around a whole part is not of the program"},
		{"a fence in REPLACE", parent1, blk("    y = 1\n", "```\n    y = 3\n```\n"), with("y = 1", "y = 3"),
			"nor in one part"},
		{"fences of the program", "a\n```\nb\n```\n", blk("```\nb\n```\n", "```\nc\n```\n"), "a\n```\nc\n```\n",
			"but one that has fences keeps them"},
		{"heading in the text", parent1, "Changes\n=======\n\n" + blk("    y = 1\n", "    y = 3\n"), with("y = 1", "y = 3"),
			"outside blocks the middle line is anyone's"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := diff(tt.parent, tt.reply)
			if got != tt.want || err != nil {
				t.Errorf("got %q, %v, want %q: %s", got, err, tt.want, tt.reason)
			}
		})
	}
}

func TestDiffErrors(t *testing.T) {
	tests := []struct{ parent, reply, want, reason string }{
		{parent1, blk("    y = 7\n", "    y = 3\n"),
			`block 1 of 1 matches nothing: its line "y = 7" is not in the program`, "the line is named"},
		{parent1, blk("    y = 1\n", "    y = 3\n") + blk("    y = 1\n", "    y = 4\n"),
			"block 2 of 2 matches nothing: its line", "blocks that overlap"},
		{parent1, blk("    return y\n    y = 1\n", ""), "in the program, but not one after the other",
			"lines the wrong way round"},
		{"a\nb\na\nc\na\n", blk("a\n", "d\n"),
			"block 1 of 1 matches more than once, at lines 1 and 3: its SEARCH needs more lines", "which is meant?"},
		{"a\na\na\n", blk("a\na\n", "d\n"), "block 1 of 1 matches more than once, at lines 1 and 2",
			"places that overlap count"},
		{"if a:\n    x = 1\nelse:\n        x = 1\n", blk("x = 1\n", "x = 2\n"), "more than once, at lines 2 and 4",
			"white space apart, it stands at two places"},
		{parent1, "```diff\n@@ -1 +1 @@\n-x\n+y\n```", `its line "x" is not in the program`, "a hunk that fits nothing"},
		{parent1, "```diff\n@@ -1,0 +2 @@\n+y = 2\n```", "has a blank SEARCH", "a hunk without context stands nowhere"},
		{parent1, "```diff\n    y = 1\n```", "is tagged diff, but has no", "a diff that changes nothing"},
		{parent1, blk("", "a\n"), "block 1 of 1 has a blank SEARCH", "put where?"},
		{parent1, blk("\n \n", "a\n"), "block 1 of 1 has a blank SEARCH", "blank lines say no more"},
		{parent1, blk("return\n", "pass\n"), "block 1 of 1 matches nothing", "whole lines only"},
		{parent1, SearchLine + "\n    y = 1\n" + ReplaceLine, "block 1 has no ======= line", "not divided"},
		{parent1, SearchLine + "\n    y = 1\n" + MiddleLine + "\n    y = 3\n", "block 1 is not closed: the reply ends",
			"cut at the token limit"},
		{parent1, blk("    y = 1\n", "    y = 3\n") + SearchLine + "\n    return 2\n" + MiddleLine, "block 2 is not closed",
			"half a diff is not applied"},
		{parent1, SearchLine + "\na\n" + MiddleLine + "\nb\n" + blk("c\n", "d\n"),
			"block 1 is not closed: another begins in it", "forgotten end"},
		{parent1, blk("    y = 1\n", "    y = 3\n=======\n    y = 4\n"),
			"block 1 of 1 has 2 lines =======, of which it is not clear which divides it", "would put ======= into the program"},
		{"A\n=======\nA\n", blk("C\n=======\n", "B\n=======\n"),
			`block 1 of 1 matches nothing: its line "C" is not in the program`, "no way to divide it matches"},
		{parent1, blk("    y = 1\n", "    y = 3\n") + ReplaceLine, `a line is ">>>>>>> REPLACE", outside any block`,
			"one too many"},
		{parent1, strings.Repeat(blk("    y = 1\n", "    y = 1\n"), maxBlocks+1), "more than 256 blocks", "there is an end"},
	}
	for _, tt := range tests {
		got, err := diff(tt.parent, tt.reply)
		if got != "" || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q:\ngot %q, %v\nwant an error with %s: %s", tt.reply, got, err, tt.want, tt.reason)
		}
	}
}

// Errors are bounded, whatever the lines are.
func TestDiffErrorIsBounded(t *testing.T) {
	long := strings.Repeat("é\t", 1<<16)
	for _, reply := range []string{blk(long+"\n", ""), blk("x\n"+long+"\n", ""), strings.Repeat(">", 1<<16)} {
		_, err := diff("x\ny\n", reply)
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("error of %d bytes: %.200v", len(fmt.Sprint(err)), err)
		}
	}
}

// Hostile replies and programs are megabytes of what a search might go through again and again: quadratic in these
// sizes is hours.
func TestDiffHuge(t *testing.T) {
	const n = 1 << 18
	same := strings.Repeat("a\n", n)
	tests := []struct{ parent, reply, reason string }{
		{same, blk(same[:n]+"b\n", "c\n"), "each place matches but for the last line"},
		{same, blk(same[:n], "c\n"), "each place matches"},
		{same, blk("b\n"+same[:n], "c\n"), "each line has a million places"},
		{strings.Repeat("ab", n), blk(strings.Repeat("ba", n)+"\n", "c\n"), "one long line"},
		{"x\n", strings.Repeat(SearchLine+"\n", n/8), "opened again and again"},
		{"x\n", SearchLine + "\n" + strings.Repeat(MiddleLine+"\n", n/8) + ReplaceLine, "divided again and again"},
		{"=======\n" + same[:n/8], SearchLine + "\n" + strings.Repeat("a\n"+MiddleLine+"\n", 200) + ReplaceLine,
			"divided again and again, with such a line in the program"},
		{same[:n/16] + "z\n", strings.Repeat(blk("z\n", "z\nz\n")+blk("z\nz\n", "z\n"), maxBlocks/2),
			"as many blocks as are read"},
	}
	for _, tt := range tests {
		if program, err := diff(tt.parent, tt.reply); err == nil && len(program) > len(tt.parent) {
			t.Errorf("%s: the program grew to %d bytes", tt.reason, len(program))
		}
	}
}

// Whatever comes, there is a program of the lines that came, or a reason.
func FuzzDiff(f *testing.F) {
	f.Add(parent1, blk("    y = 1\n", "    y = 3\n"))
	f.Add("a\r\nb", "```\n"+blk("b\n", "c\r\n")+"```")
	f.Add("=======\n", blk("=======\n", "b\n"))
	f.Add("", "  "+SearchLine+"\n\n  "+MiddleLine+"\n  a\n  "+ReplaceLine)
	f.Add("a", "```\nb\n```")
	f.Fuzz(func(t *testing.T, parent, reply string) {
		got, err := diff(parent, reply)
		if err != nil && (got != "" || len(err.Error()) > 1000 || utf8.ValidString(reply) && !utf8.ValidString(err.Error())) {
			t.Fatalf("%q with error %q", got, err)
		}
		if once := len(linesOf(parent)); err == nil && len(linesOf(got)) > once+strings.Count(reply, "\n")+1 {
			t.Fatalf("of %q and %q came more lines than there are: %q", parent, reply, got)
		}
	})
}

// A block that replaces lines i to j by others does just that, if they stand there once.
func FuzzDiffRoundTrip(f *testing.F) {
	f.Add(parent1, uint(3), uint(1), "    y = 3\n    z = 1")
	f.Add("a\n\na\n\nb", uint(1), uint(2), "")
	f.Fuzz(func(t *testing.T, parent string, i, n uint, put string) {
		parent = strings.ReplaceAll(parent, "\r", "")
		put = strings.ReplaceAll(put, "\r", "")
		lines := strings.Split(strings.TrimSuffix(parent, "\n"), "\n")
		for _, l := range slices.Concat(lines, strings.Split(put, "\n")) {
			b := strings.Trim(l, " \t")
			if SignOf(b) != NoSign {
				return
			}
		}
		i %= uint(len(lines))
		n = min(n%8+1, uint(len(lines))-i)
		search := lines[i : i+n]
		if strings.TrimSpace(strings.Join(search, "")) == "" {
			return
		}
		replace := strings.Split(put, "\n")
		want := strings.Join(slices.Concat(lines[:i], replace, lines[i+n:]), "\n") +
			parent[len(strings.TrimSuffix(parent, "\n")):]
		times := 0
		for at := range len(lines) - len(search) + 1 {
			if slices.Equal(lines[at:at+len(search)], search) {
				times++
			}
		}
		got, err := diff(parent, blk(strings.Join(search, "\n")+"\n", put+"\n"))
		switch {
		case times > 1:
			if err == nil || !strings.Contains(err.Error(), "matches more than once") {
				t.Fatalf("%q stands in %q %d times: %q, %v", search, parent, times, got, err)
			}
		case err != nil || got != want:
			t.Fatalf("%q for %q in %q: %q, %v, want %q", put, search, parent, got, err, want)
		}
	})
}
