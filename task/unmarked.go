package task

import (
	"errors"
	"strings"
)

// unmarked returns the lines, of a program without markers, that correspond to m's blocks, see [RestoreOutside].
func (m marked) unmarked(lines []line) ([][]line, error) {
	inside, err := m.cut(lines)
	if inside != nil || err != nil {
		return inside, err
	}
	if err := m.checkInside(lines); err != nil {
		return nil, err
	}
	return [][]line{lines}, nil
}

var (
	errUncut   = errors.New("it holds what stands outside of the blocks, but there is more than one way to cut it")
	errSeveral = errors.New("it does not hold all that stands outside of the blocks")
	errPartly  = errors.New("it holds some of what stands outside of the block, but not all of it")
	errUnlike  = errors.New("it holds neither what stands outside of the block nor a line of the block")
)

// cut returns the lines between the parts of m's outside, or nil if lines lack some of these parts. It takes time
// linear in lines for each block.
func (m marked) cut(lines []line) (inside [][]line, err error) {
	parts := make([]code, len(m.outside))
	for i, part := range m.outside {
		parts[i] = codeOf(withoutMarkers(part))
	}
	n := len(parts) - 1
	first, last, program := parts[0], parts[n], codeOf(lines)
	from, to := len(first.at), len(program.at)-len(last.at)
	if from > to || !strings.HasPrefix(program.text, first.text) || !strings.HasSuffix(program.text, last.text) {
		return nil, nil
	}
	lines = lines[program.end(from):program.begin(to, len(lines))]
	rest := codeOf(lines)
	begin, pos := 0, 0 // of what is not cut yet, in lines and in rest.text
	for _, part := range parts[1:n] {
		if len(part.at) == 0 {
			return nil, errUncut
		}
		at := strings.Index(rest.text, part.text)
		if at < pos {
			return nil, nil
		}
		if strings.LastIndex(rest.text, part.text) != at {
			return nil, errUncut
		}
		k := strings.Count(rest.text[:at], "\n")
		inside = append(inside, lines[begin:rest.at[k]])
		begin, pos = rest.end(k+len(part.at)), at+len(part.text)-1
	}
	inside = append(inside, lines[begin:])
	for i := range inside {
		inside[i] = trimBlank(inside[i], parts[i].below, parts[i+1].above)
	}
	return inside, nil
}

// checkInside returns an error unless lines may be the inside of m's only block.
func (m marked) checkInside(lines []line) error {
	if len(m.inside) > 1 {
		return errSeveral
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
		case !strings.ContainsFunc(text, wordRune): // a brace, which is no evidence
		case block[text]:
			known = true
		case outside[text]:
			return errPartly
		}
	}
	if !known {
		return errUnlike
	}
	return nil
}

// withoutMarkers returns a part of the outside without its comments that are markers.
func withoutMarkers(part []line) []line {
	var out []line
	for _, l := range part {
		if markerOf(l.text) != noMarker {
			before, _, _ := strings.Cut(l.text, "EVOLVE-BLOCK-")
			code, found := beforeSign(before)
			if !found || strings.Trim(code, "#/-;%* \t\uFEFF") == "" {
				continue
			}
			l.text = code
		}
		out = append(out, l)
	}
	return out
}

// A code is the nonblank lines of a list, with white space removed.
type code struct {
	text         string // a line end, then each line with a line end
	at           []int  // their indices
	above, below int    // blank lines at either end
}

func codeOf(lines []line) code {
	var c code
	var b strings.Builder
	b.WriteByte('\n')
	for i, l := range lines {
		if text := squeeze(l.text); text != "" {
			b.WriteString(text)
			b.WriteByte('\n')
			c.at = append(c.at, i)
		}
	}
	c.text = b.String()
	c.above, c.below = c.begin(0, len(lines)), len(lines)-c.end(len(c.at))
	return c
}

// begin returns the index of line n of c in the lines that it was made from, of which there are all.
func (c code) begin(n, all int) int {
	if n == len(c.at) {
		return all
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

// trimBlank removes up to above blank lines from the beginning, and below from the end.
func trimBlank(lines []line, above, below int) []line {
	for ; above > 0 && len(lines) > 0 && squeeze(lines[0].text) == ""; above-- {
		lines = lines[1:]
	}
	for ; below > 0 && len(lines) > 0 && squeeze(lines[len(lines)-1].text) == ""; below-- {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
