package edit

import (
	"slices"
	"strings"
)

// A line is one line of a program and its end: "\n", "\r\n", or "" at the program's end.
type line struct{ text, end string }

// indent returns the white space that the line begins with.
func (l line) indent() string { return l.text[:len(l.text)-len(strings.TrimLeft(l.text, " \t"))] }

// linesOf returns the lines of s, which join restores exactly. An empty s has none.
func linesOf(s string) []line {
	var lines []line
	for s := range strings.SplitAfterSeq(s, "\n") {
		if s == "" {
			break
		}
		text := strings.TrimSuffix(s, "\n")
		if text != s {
			text = strings.TrimSuffix(text, "\r")
		}
		lines = append(lines, line{text, s[len(text):]})
	}
	return lines
}

// join is the opposite of linesOf.
func join(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
		b.WriteString(l.end)
	}
	return b.String()
}

// sizeOf returns how many bytes join makes of lines.
func sizeOf(lines []line) (n int) {
	for _, l := range lines {
		n += len(l.text) + len(l.end)
	}
	return n
}

// lineEnd returns the line end of the first list that has one, or "\n".
func lineEnd(lists ...[]line) string {
	for _, lines := range lists {
		for _, l := range lines {
			if l.end != "" {
				return l.end
			}
		}
	}
	return "\n"
}

// withEnds returns lines with the given line ends.
func withEnds(lines []line, end string) []line {
	out := slices.Clone(lines)
	for i := range out {
		out[i] = line{strings.TrimRight(out[i].text, "\r"), end}
	}
	return out
}

// Dedent returns program without the indentation that all its lines share, unless those of like share some too.
func Dedent(program, like string) string {
	lines := linesOf(program)
	indent := indentOf(lines)
	if indent == "" || indentOf(linesOf(like)) != "" {
		return program
	}
	return join(shift(lines, indent, ""))
}

// indentOf returns the white space that all lines begin with, but for blank ones.
func indentOf(lines []line) string {
	common, first := "", true
	for _, l := range lines {
		if strings.TrimSpace(l.text) == "" {
			continue
		}
		if first {
			common, first = l.indent(), false
		}
		for !strings.HasPrefix(l.text, common) {
			common = common[:len(common)-1]
		}
	}
	return common
}

// shift returns lines with another indentation in the place of one that all have.
func shift(lines []line, from, to string) []line {
	out := slices.Clone(lines)
	for i, l := range out {
		if rest, ok := strings.CutPrefix(l.text, from); ok && strings.TrimSpace(rest) != "" {
			out[i].text = to + rest
		}
	}
	return out
}

func isBlank(lines []line) bool {
	return !slices.ContainsFunc(lines, func(l line) bool { return strings.TrimSpace(l.text) != "" })
}

// trimBlank removes up to above blank lines from the beginning, and below from the end.
func trimBlank(lines []line, above, below int) []line {
	for ; above > 0 && len(lines) > 0 && isBlank(lines[:1]); above-- {
		lines = lines[1:]
	}
	for ; below > 0 && len(lines) > 0 && isBlank(lines[len(lines)-1:]); below-- {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// squeeze returns s without white space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// A code is the lines of a list that are not blank, by a key that leaves white space out.
type code struct {
	text []byte // a line end, then the key of each with a line end
	at   []int  // their indices
	all  int    // lines of the list
}

func codeOf(lines []line, key func(string) string) (c code) {
	c.read(lines, key)
	return c
}

// read makes c that of lines.
func (c *code) read(lines []line, key func(string) string) {
	c.text, c.at, c.all = append(c.text[:0], '\n'), c.at[:0], len(lines)
	for i, l := range lines {
		if k := key(l.text); k != "" {
			c.text = append(append(c.text, k...), '\n')
			c.at = append(c.at, i)
		}
	}
}

// begin returns the index of line n of c in the list.
func (c code) begin(n int) int {
	if n == len(c.at) {
		return c.all
	}
	return c.at[n]
}

// end returns the index after the first n lines of c.
func (c code) end(n int) int {
	if n == 0 {
		return 0
	}
	return c.at[n-1] + 1
}
