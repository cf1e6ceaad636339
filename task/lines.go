package task

import "strings"

// A line is one line of a program and its end: "\n", "\r\n", or "" at the program's end.
type line struct{ text, end string }

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
