package edit

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Restore returns program with everything outside of its blocks, which EVOLVE-BLOCK-START and EVOLVE-BLOCK-END
// lines mark, restored from parent to the byte, including these lines. So only the lines between them are program's,
// with line ends like those around them.
//
// A marker is a line that has its name after signs that begin a comment, at the line's beginning or
// after code: "# EVOLVE-BLOCK-START", "x(); // EVOLVE-BLOCK-END", "<!-- EVOLVE-BLOCK-START -->",
// "REM EVOLVE-BLOCK-START". There may be several pairs; they do not nest.
//
// The program's own text outside is dropped, even if it differs. It is an error if program has more blocks than parent,
// or if its blocks nest or do not pair up, since they cannot be assigned then. It is also an error if parent has no
// blocks.
//
// A program that has lost some or all of the markers, from a model that omits comments, may be one of two things:
//
//   - The whole of it: it has all lines of code that parent has outside, in order, the first and the last ones at its
//     ends. What stands between them goes into the blocks. There must be one way only to cut it.
//   - The inside alone, if parent has one block: it has at least one line of the parent's block, and none of the lines
//     that parent has only outside. It gets the indentation that the parent's block has.
//
// Lines are compared ignoring white space and blank lines. In the second case lines without a letter or digit do not
// count. Any other program is rejected. lost is how many markers were lost.
//
// Only text is protected: a block can still change the meaning of the text after it, for instance by opening a comment.
// Only the evaluator can notice that.
func Restore(parent, program string) (restored string, lost int, err error) {
	old, err := splitMarked(parent)
	if err != nil {
		return "", 0, fmt.Errorf("the parent's EVOLVE-BLOCK markers: %w", err)
	}
	if len(old.inside) == 0 {
		return "", 0, errors.New("the parent has no EVOLVE-BLOCK markers")
	}
	made, err := splitMarked(program)
	lines := linesOf(program)
	lost = 2 * len(old.inside)
	for _, l := range lines {
		if markerOf(l.text) != noMarker {
			lost--
		}
	}
	switch {
	case err == nil && len(made.inside) == len(old.inside):
	case lost > 0:
		if made.inside, err = old.unmarked(lines); err != nil {
			return "", 0, fmt.Errorf("it has lost %d of %d EVOLVE-BLOCK markers: %w", lost, 2*len(old.inside), err)
		}
	case err != nil:
		return "", 0, fmt.Errorf("its EVOLVE-BLOCK markers: %w", err)
	default:
		return "", 0, fmt.Errorf("it has %d blocks between EVOLVE-BLOCK markers: need %d", len(made.inside), len(old.inside))
	}
	var b strings.Builder
	for i, outside := range old.outside {
		b.WriteString(join(outside))
		if i < len(made.inside) {
			b.WriteString(join(withEnds(made.inside[i], lineEnd(outside[len(outside)-1:]))))
		}
	}
	return b.String(), max(lost, 0), nil
}

// A marked program, in parts: outside[0] inside[0] outside[1] ... inside[n-1] outside[n]. The lines
// with markers are outside.
type marked struct{ outside, inside [][]line }

// Marked reports whether program has blocks between EVOLVE-BLOCK markers. It is an error if these do not pair up.
func Marked(program string) (bool, error) {
	m, err := splitMarked(program)
	return len(m.inside) > 0, err
}

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

var (
	// Signs that begin a comment or a word that does (BASIC's, Fortran's, m4's), and the name, perhaps with a remark.
	atStart = regexp.MustCompile(`^[^\pL\pN_]*(?:(?i:rem|c|dnl)[^\pL\pN_]+)?EVOLVE-BLOCK-(START|END)(?:[^\pL\pN_]|$)`)
	// A comment after code, of the name alone.
	atEnd = regexp.MustCompile(commentSign + `[ \t]*EVOLVE-BLOCK-(START|END)[ \t]*(?:\*/|\*\)|-->|-\})?[ \t]*$`)
	// What stands between code and a marker.
	before = regexp.MustCompile(commentSign + `[ \t]*$`)
)

const commentSign = `(?:#|//|--|;|%|/\*|\(\*|<!--|\{-)`

// markerOf returns the marker that a line is.
func markerOf(line string) marker {
	if !strings.Contains(line, "EVOLVE-BLOCK-") {
		return noMarker
	}
	for _, form := range []*regexp.Regexp{atStart, atEnd} {
		if m := form.FindStringSubmatch(line); m != nil && m[1] == "START" {
			return startMarker
		} else if m != nil {
			return endMarker
		}
	}
	return noMarker
}

// withoutMarkers returns lines without the comments that are markers.
func withoutMarkers(lines []line) []line {
	var out []line
	for _, l := range lines {
		if markerOf(l.text) != noMarker {
			code, _, _ := strings.Cut(l.text, "EVOLVE-BLOCK-")
			at := before.FindStringIndex(code)
			if at == nil || strings.Trim(code[:at[0]], "#/-;%* \t\uFEFF") == "" {
				continue
			}
			l.text = code[:at[0]]
		}
		out = append(out, l)
	}
	return out
}

// unmarked returns the lines, of a program that has lost markers, that correspond to m's blocks, see [Restore]. What
// lies outside at the one marker of a block that is there may differ.
func (m marked) unmarked(lines []line) ([][]line, error) {
	at := slices.IndexFunc(lines, func(l line) bool { return markerOf(l.text) != noMarker })
	if at >= 0 && len(m.inside) == 1 {
		whole := slices.Concat(withoutMarkers(m.outside[0]), withoutMarkers(lines[at+1:]))
		if markerOf(lines[at].text) == endMarker {
			whole = slices.Concat(lines[:at], withoutMarkers(m.outside[1]))
		}
		if inside, err := m.cut(whole); inside != nil || err != nil {
			return inside, err
		}
	}
	lines = withoutMarkers(lines)
	inside, err := m.cut(lines)
	if inside != nil || err != nil {
		return inside, err
	}
	if err := m.checkInside(lines); err != nil {
		return nil, err
	}
	return [][]line{shift(lines, indentOf(lines), indentOf(m.inside[0]))}, nil
}

var errUncut = errors.New("it holds what stands outside of the blocks, but there is more than one way to cut it")

// cut returns the lines between the parts of m's outside, or nil if lines lack some of these parts. It takes time
// linear in lines for each block.
func (m marked) cut(lines []line) (inside [][]line, err error) {
	parts := make([]code, len(m.outside))
	for i, part := range m.outside {
		parts[i] = codeOf(withoutMarkers(part), squeeze)
	}
	n := len(parts) - 1
	first, last, program := parts[0], parts[n], codeOf(lines, squeeze)
	from, to := len(first.at), len(program.at)-len(last.at)
	if from > to || !bytes.HasPrefix(program.text, first.text) || !bytes.HasSuffix(program.text, last.text) {
		return nil, nil
	}
	lines = lines[program.end(from):program.begin(to)]
	rest := codeOf(lines, squeeze)
	begin, pos := 0, 0 // of what is not cut yet, in lines and in rest.text
	for _, part := range parts[1:n] {
		if len(part.at) == 0 {
			return nil, errUncut
		}
		at := bytes.Index(rest.text, part.text)
		if at < pos {
			return nil, nil
		}
		if bytes.LastIndex(rest.text, part.text) != at {
			return nil, errUncut
		}
		k := bytes.Count(rest.text[:at], []byte{'\n'})
		inside = append(inside, lines[begin:rest.at[k]])
		begin, pos = rest.end(k+len(part.at)), at+len(part.text)-1
	}
	inside = append(inside, lines[begin:])
	for i := range inside {
		before := parts[i]
		inside[i] = trimBlank(inside[i], before.all-before.end(len(before.at)), parts[i+1].begin(0))
	}
	return inside, nil
}

// checkInside returns an error unless lines may be the inside of m's only block.
func (m marked) checkInside(lines []line) error {
	if len(m.inside) > 1 {
		return errors.New("it does not hold all that stands outside of the blocks")
	}
	block, outside := map[string]bool{}, map[string]bool{}
	for _, l := range m.inside[0] {
		block[squeeze(l.text)] = true
	}
	for _, part := range m.outside {
		for _, l := range withoutMarkers(part) {
			outside[squeeze(l.text)] = true
		}
	}
	known := false
	for _, l := range lines {
		text := squeeze(l.text)
		switch {
		case !strings.ContainsFunc(text, isWord): // a brace, which is no evidence
		case block[text]:
			known = true
		case outside[text]:
			return errors.New("it holds some of what stands outside of the block, but not all of it")
		}
	}
	if !known {
		return errors.New("it holds neither what stands outside of the block nor a line of the block")
	}
	return nil
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
