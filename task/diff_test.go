package task

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// blk is a block of a diff.
func blk(search, replace string) string {
	return searchLine + "\n" + search + middleLine + "\n" + replace + replaceLine + "\n"
}

const parent1 = "import math\n\ndef f(x):\n    y = 1\n    return y\n\ndef g(x):\n    return 2\n"

func TestParseDiff(t *testing.T) {
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
		{"markers indented like the code", parent1, "    " + searchLine + "\n    y = 1\n    " + middleLine +
			"\n    y = 3\n    " + replaceLine,
			with("y = 1", "y = 3"), "the text as written goes before the text moved left"},
		{"white space after a delimiter", parent1, searchLine + "  \n    y = 1\n" + middleLine + "\t\n    y = 3\n" +
			replaceLine + " \n",
			with("y = 1", "y = 3"), "it does not show"},
		{"thinking", parent1, "<think>\n" + blk("    return 2\n", "    return 9\n") + "</think>\n" +
			blk("    y = 1\n", "    y = 3\n"),
			with("y = 1", "y = 3"), "blocks inside the thinking are drafts"},
		{"heading", "Title\n=======\ntext\n", blk("Title\n=======\n", "Name\n=======\n"), "Name\n=======\ntext\n",
			"a program with such lines itself: the longest SEARCH that is there"},
		{"heading in REPLACE", "=======\nA\ntext\n", blk("A\n", "A\n=======\nB\n"), "=======\nA\n=======\nB\ntext\n",
			"a longer SEARCH is not there"},
		{"blank parent", "\n", blk("", "a\n"), "a\n", "an empty SEARCH fills a blank program"},
		{"whole program", parent1, "All new:\n```python\nx = 1\n```", "x = 1", "no block, but a program"},
		{"whole program after thinking", parent1, "<think>\n" + blk("a\n", "b\n") + "</think>\n```python\nx = 1\n```",
			"x = 1",
			"a drafted block does not count"},
		{"heading in the text", parent1, "Changes\n=======\n\n" + blk("    y = 1\n", "    y = 3\n"), with("y = 1", "y = 3"),
			"outside blocks the middle line is anyone's"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseDiff(tt.parent, tt.reply, "python")
			if got != tt.want || err != nil {
				t.Errorf("got %q, %v, want %q: %s", got, err, tt.want, tt.reason)
			}
		})
	}
}

func TestParseDiffErrors(t *testing.T) {
	tests := []struct{ parent, reply, want, reason string }{
		{parent1, blk("    y = 7\n", "    y = 3\n"),
			`block 1 of 1 matches nothing: for its "y = 7" the nearest is line 4, "y = 1"`, "the nearest line and where it is"},
		{parent1, blk("    y = 1\n", "    y = 3\n") + blk("def g(y):\n    return 2\n", "x\n"),
			`block 2 of 2 matches nothing: nearest is line 7, with 1 of its 2 lines alike, but line 7 is "def g(x):" and not "def g(y):"`,
			"the block that is wrong, and the line"},
		{parent1, blk("  y = 1\n", "  y = 3\n"),
			`block 1 of 1 matches nothing: nearest is line 4, but for its white space: line 4 is "    y = 1" and not "  y = 1"`,
			"indentation has to match"},
		{parent1, blk("    y = 1\n", "    y = 3\n") + blk("    y = 1\n", "    y = 4\n"),
			"block 2 of 2 matches line 4 of the parent, but a block before it has changed that", "blocks that overlap"},
		{parent1, blk("    return y\n    y = 1\n", ""),
			`block 1 of 1 matches nothing: nearest is line 3, with 1 of its 2 lines alike, but line 3 is "def f(x):" and not "    return y"`, "lines the wrong way round"},
		{parent1, blk("Zzz-Zzz\n", ""), `block 1 of 1 matches nothing: no line of the program is like its "Zzz-Zzz"`,
			"nothing near"},
		{parent1, blk("    return 2\n    # more\n", ""),
			`block 1 of 1 matches nothing: nearest is line 8, with 1 of its 2 lines alike, but its "    # more" comes after the last line`, "beyond the end"},
		{"a\nb\na\nc\na\n", blk("a\n", "d\n"),
			"block 1 of 1 matches more than once, at lines 1, 3 and 5: its SEARCH needs more lines", "which is meant?"},
		{"a\na\na\n", blk("a\na\n", "d\n"), "block 1 of 1 matches more than once, at lines 1 and 2",
			"places that overlap count"},
		{strings.Repeat("a\n", 9), blk("a\n", "d\n"), "at lines 1, 2, 3, 4 and 5 at least", "as many as fit"},
		{parent1, blk("", "a\n"), "block 1 of 1 has a blank SEARCH", "put where?"},
		{parent1, blk("\n \n", "a\n"), "block 1 of 1 has a blank SEARCH", "blank lines say no more"},
		{parent1, blk("return\n", "pass\n"), "block 1 of 1 matches nothing", "whole lines only"},
		{parent1, searchLine + "\n    y = 1\n" + replaceLine, "block 1 has no ======= line", "not divided"},
		{parent1, searchLine + "\n    y = 1\n" + middleLine + "\n    y = 3\n", "block 1 is not closed: the reply ends",
			"cut at the token limit"},
		{parent1, blk("    y = 1\n", "    y = 3\n") + searchLine + "\n    return 2\n" + middleLine, "block 2 is not closed",
			"half a diff is not applied"},
		{parent1, searchLine + "\na\n" + middleLine + "\nb\n" + blk("c\n", "d\n"),
			"block 1 is not closed: another begins in it", "forgotten end"},
		{parent1, blk("    y = 1\n", "    y = 3\n=======\n    y = 4\n"),
			"block 1 of 1 has 2 lines =======, of which it is not clear which divides it", "would put ======= into the program"},
		{"A\n=======\nA\n", blk("C\n=======\n", "B\n=======\n"),
			`block 1 of 1 matches nothing: no line of the program is like its "C"`, "no way to divide it matches"},
		{parent1, "<<<<<<< ORIGINAL\n    y = 1\n=======\n    y = 3\n>>>>>>> UPDATED\n",
			`a line is "<<<<<<< ORIGINAL", outside any block`, "another form"},
		{parent1, "```python\n<<<<<< SEARCH\n    y = 1\n=======\n    y = 3\n>>>>>> REPLACE\n```", `a line is "<<<<<< SEARCH"`,
			"six signs: not taken for a program"},
		{parent1, blk("    y = 1\n", "    y = 3\n") + replaceLine, `a line is ">>>>>>> REPLACE", outside any block`,
			"one too many"},
		{parent1, "```diff\n-    y = 1\n+    y = 3\n```", "a fenced block is tagged diff, but has no",
			"a diff of another kind"},
		{parent1, "Sorry, no.", "it has neither a <<<<<<< SEARCH line nor a fenced block", "talk is no program"},
		{parent1, "", "it is empty", "nothing came"},
		{parent1, "<think>" + blk("    y = 1\n", "    y = 3\n"), "it is all thinking", "only a draft"},
		{parent1, blk(parent1, ""), "its blocks delete all of it", "no program left"},
		{parent1, blk("    y = 1\n", "    y = \x00\n"), "is NUL", "a program is text"},
		{parent1, strings.Repeat(blk("    y = 1\n", "    y = 1\n"), maxBlocks+1), "more than 256 blocks", "there is an end"},
	}
	for _, tt := range tests {
		got, err := ParseDiff(tt.parent, tt.reply, "python")
		if got != "" || err == nil || !strings.HasPrefix(err.Error(), "task: no program in the reply: ") ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q:\ngot %q, %v\nwant an error with %s: %s", tt.reply, got, err, tt.want, tt.reason)
		}
		if err != nil && len(err.Error()) > maxReason {
			t.Errorf("%q: the error has %d bytes", tt.reply, len(err.Error()))
		}
	}
}

func TestParseDiffUnchanged(t *testing.T) {
	tests := []struct{ reply, reason string }{
		{blk("    y = 1\n", "    y = 1\n"), "lines by themselves"},
		{blk("    y = 1\n", "    y = 3\n") + blk("    y = 3\n", "    y = 1\n"), "there and back"},
		{"```python\n" + parent1 + "```", "the program as a whole"},
		{"```python\n" + strings.TrimSpace(parent1) + "\n```", "without the line end that the prompt does not show"},
	}
	for _, tt := range tests {
		for _, parent := range []string{parent1, strings.ReplaceAll(parent1, "\n", "\r\n")} {
			if got, err := ParseDiff(parent, tt.reply, "python"); !errors.Is(err, ErrUnchanged) || got != "" {
				t.Errorf("ParseDiff(%q) = %q, %v, want ErrUnchanged: %s", tt.reply, got, err, tt.reason)
			}
		}
	}
}

// Errors are bounded, whatever the lines are.
func TestParseDiffErrorIsBounded(t *testing.T) {
	long := strings.Repeat("é\t", 1<<16)
	for _, reply := range []string{blk(long+"\n", ""), blk("x\n"+long+"\n", ""), "<<<<<<< " + strings.Repeat("A", 1<<16)} {
		_, err := ParseDiff("x\ny"+long+"\n", reply, "python")
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("error of %d bytes: %.200v", len(fmt.Sprint(err)), err)
		}
	}
}

// Hostile replies and programs are megabytes of what a search might go through again and again: quadratic in these
// sizes is hours.
func TestParseDiffHuge(t *testing.T) {
	const n = 1 << 18
	same := strings.Repeat("a\n", n)
	tests := []struct{ parent, reply, reason string }{
		{same, blk(same[:n]+"b\n", "c\n"), "each place matches but for the last line"},
		{same, blk(same[:n], "c\n"), "each place matches"},
		{same, blk("b\n"+same[:n], "c\n"), "each line has a million places"},
		{strings.Repeat("ab", n), blk(strings.Repeat("ba", n)+"\n", "c\n"), "one long line"},
		{"x\n", strings.Repeat(searchLine+"\n", n/8), "opened again and again"},
		{"x\n", searchLine + "\n" + strings.Repeat(middleLine+"\n", n/8) + replaceLine, "divided again and again"},
		{"=======\n" + same[:n/8], searchLine + "\n" + strings.Repeat("a\n"+middleLine+"\n", 200) + replaceLine,
			"divided again and again, with such a line in the program"},
		{same[:n/16] + "z\n", strings.Repeat(blk("z\n", "z\nz\n")+blk("z\nz\n", "z\n"), maxBlocks/2),
			"as many blocks as are read"},
	}
	for _, tt := range tests {
		if program, err := ParseDiff(tt.parent, tt.reply, "python"); err == nil && program == tt.parent {
			t.Errorf("%s: the program is the parent", tt.reason)
		}
	}
}

// Whatever comes, there is a program or a reason, and the program is text and not the parent.
func FuzzParseDiff(f *testing.F) {
	f.Add(parent1, blk("    y = 1\n", "    y = 3\n"))
	f.Add("a\r\nb", "```\n"+blk("b\n", "c\r\n")+"```")
	f.Add("=======\n", blk("=======\n", "b\n"))
	f.Add("", "  "+searchLine+"\n\n  "+middleLine+"\n  a\n  "+replaceLine)
	f.Add("a", "```\nb\n```")
	f.Fuzz(func(t *testing.T, parent, reply string) {
		got, err := ParseDiff(parent, reply, "python")
		if (err == nil) == (got == "") || got == parent && err == nil {
			t.Fatalf("ParseDiff(%q, %q) = %q, %v", parent, reply, got, err)
		}
		if err == nil && checkText(got) != nil {
			t.Fatalf("ParseDiff(%q, %q) = %q: not text", parent, reply, got)
		}
		if err != nil && (len(err.Error()) > 1000 || !strings.HasPrefix(err.Error(), "task: ") || utf8.ValidString(reply) &&
			utf8.ValidString(parent) && !utf8.ValidString(err.Error())) {
			t.Fatalf("error %q", err)
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
			if b == searchLine || b == middleLine || b == replaceLine || strings.Contains(l, "</think>") {
				return
			}
		}
		i %= uint(len(lines))
		n = min(n%8+1, uint(len(lines))-i)
		search := lines[i : i+n]
		if trim(strings.Join(search, "")) == "" || checkText(parent) != nil || checkText(put) != nil {
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
		got, err := ParseDiff(parent, blk(strings.Join(search, "\n")+"\n", put+"\n"), "")
		switch {
		case times > 1:
			if err == nil || !strings.Contains(err.Error(), "matches more than once") {
				t.Fatalf("%q stands in %q %d times: %q, %v", search, parent, times, got, err)
			}
		case want == parent:
			if !errors.Is(err, ErrUnchanged) {
				t.Fatalf("%q for itself in %q: %q, %v", search, parent, got, err)
			}
		case trim(want) != "" && got != want:
			t.Fatalf("%q for %q in %q: %q, %v, want %q", put, search, parent, got, err, want)
		}
	})
}
