package task

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// RestoreOutside returns program with everything outside of its blocks, which EVOLVE-BLOCK-START and EVOLVE-BLOCK-END
// lines mark, restored from parent to the byte, including these lines. So only the lines between them are program's,
// with line ends like those around them.
//
// A marker is a line that has its name after signs that begin a comment, at the line's beginning or
// after code: "# EVOLVE-BLOCK-START", "x(); // EVOLVE-BLOCK-END", "<!-- EVOLVE-BLOCK-START -->",
// "REM EVOLVE-BLOCK-START". There may be several pairs; they do not nest.
//
// The program's own text outside is dropped, even if it differs. It is an error if program has another number of blocks
// than parent, or if its blocks nest or do not pair up, since they cannot be assigned then. It is also an error if
// parent has no blocks.
//
// A program without any markers, from a model that omits comments, may be one of two things:
//
//   - The whole of it: it has all lines of code that parent has outside, in order, the first and the last ones at its
//     ends. What stands between them goes into the blocks. There must be one way only to cut it.
//   - The inside alone, if parent has one block: it has at least one line of the parent's block, and none of the lines
//     that parent has only outside.
//
// Lines are compared ignoring white space and blank lines. In the second case lines without a letter or digit do not
// count. Any other program without markers is rejected.
//
// Only text is protected: a block can still change the meaning of the text after it, for instance by opening a comment.
// Only the evaluator can notice that.
func RestoreOutside(parent, program string) (string, error) {
	old, err := splitMarked(parent)
	if err != nil {
		return "", fmt.Errorf("task: the parent's markers: %w", err)
	}
	if len(old.inside) == 0 {
		return "", errors.New("task: the parent has no EVOLVE-BLOCK markers")
	}
	made, err := splitMarked(program)
	if err == nil && len(made.inside) == 0 {
		if made.inside, err = old.unmarked(made.outside[0]); err != nil {
			return "", fmt.Errorf("task: the program has lost the EVOLVE-BLOCK markers: need %d of each kind: %w",
				len(old.inside), err)
		}
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("task: the program's EVOLVE-BLOCK markers: %w", err)
	case len(made.inside) != len(old.inside):
		return "", fmt.Errorf("task: the program has %d blocks between EVOLVE-BLOCK markers: need %d",
			len(made.inside), len(old.inside))
	}
	var b strings.Builder
	for i, outside := range old.outside {
		b.WriteString(join(outside))
		if i < len(made.inside) {
			b.WriteString(join(withEnds(made.inside[i], lineEnd(outside[len(outside)-1:]))))
		}
	}
	return b.String(), nil
}

// withEnds returns lines with the given line ends.
func withEnds(lines []line, end string) []line {
	out := slices.Clone(lines)
	for i := range out {
		out[i].end = end
	}
	return out
}

// A marked program, in parts: outside[0] inside[0] outside[1] ... inside[n-1] outside[n]. The lines
// with markers are outside.
type marked struct{ outside, inside [][]line }

// splitMarked returns the parts of program. A program without markers is all outside[0].
func splitMarked(program string) (marked, error) {
	var m marked
	lines := linesOf(program)
	opened, begin := 0, 0 // number of the line that opened a block, 0 outside; where the part begins
	for i, l := range lines {
		switch markerOf(l.text) {
		case startMarker:
			if opened > 0 {
				return m, fmt.Errorf("line %d begins a block inside the one that line %d begins", i+1, opened)
			}
			m.outside, opened, begin = append(m.outside, lines[begin:i+1]), i+1, i+1
		case endMarker:
			if opened == 0 {
				return m, fmt.Errorf("line %d ends a block that none begins", i+1)
			}
			m.inside, opened, begin = append(m.inside, lines[begin:i]), 0, i
		}
	}
	if opened > 0 {
		return m, fmt.Errorf("the block that line %d begins does not end", opened)
	}
	m.outside = append(m.outside, lines[begin:])
	return m, nil
}

type marker int

const (
	noMarker marker = iota
	startMarker
	endMarker
)

// markerOf returns the marker that a line is.
func markerOf(line string) marker {
	before, name, ok := strings.Cut(line, "EVOLVE-BLOCK-")
	if !ok {
		return noMarker
	}
	kind := startMarker
	rest, ok := strings.CutPrefix(name, "START")
	if !ok {
		kind = endMarker
		if rest, ok = strings.CutPrefix(name, "END"); !ok {
			return noMarker
		}
	}
	if r, _ := utf8.DecodeRuneInString(rest); wordRune(r) {
		return noMarker
	}
	if beginsComment(before) {
		return kind
	}
	if _, ok := beforeSign(before); ok && closesComment(rest) {
		return kind
	}
	return noMarker
}

func wordRune(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// beginsComment reports whether s is signs and white space alone, or one of the words that begin a
// comment (BASIC's, Fortran's, m4's).
func beginsComment(s string) bool {
	s = strings.TrimFunc(s, func(r rune) bool { return !wordRune(r) })
	return s == "" || slices.Contains([]string{"rem", "c", "dnl"}, strings.ToLower(s))
}

// beforeSign returns the code before the sign that begins a comment at the end of s, and whether there is a sign.
func beforeSign(s string) (code string, found bool) {
	s = strings.TrimRight(s, " \t")
	for _, sign := range []string{"#", "//", "--", ";", "%", "/*", "(*", "<!--", "{-"} {
		if code, found = strings.CutSuffix(s, sign); found && (sign != "--" || !strings.HasSuffix(code, "<!")) {
			return code, true
		}
	}
	return s, false
}

// closesComment reports whether nothing follows the marker but the end of its comment.
func closesComment(s string) bool {
	return slices.Contains([]string{"", "*/", "*)", "-->", "-}"}, strings.TrimSpace(s))
}
