package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds on applying blocks. A reply can be far longer than any program, and each block costs passes over the program
// so far.
const (
	maxGrown    = 1 << 20 // bytes of the program after a block, unless twice the parent is more
	maxWork     = 1 << 29 // bytes read for all blocks
	bytesOfLine = 16      // as many are read in the time that a line takes
	maxMiddles  = 8       // lines that are tried as a block's divider
	maxCompared = 1 << 20 // lines that are compared at the places of one SEARCH
)

// A searched is the program that blocks search and change.
type searched struct {
	lines []line
	size  int // in bytes
	work  int // bytes read so far
	code  code
}

// Apply applies blocks to parent in order, each to the result of the previous ones.
//
// The SEARCH of a block is whole lines that occur in the program once, or differ from lines of one place in white space
// alone; the new lines then get the program's indentation. An empty REPLACE deletes them. Line ends do not count, and
// new lines have those of the lines that they replace. "=======" within SEARCH or REPLACE is understood only if the
// program itself has such a line: of several ways to divide a block, the one with the longest matching SEARCH counts. A
// fence around all of SEARCH or REPLACE is dropped, unless the program itself has fences.
//
// It is an error, which names the block by number, if SEARCH is blank (unless the program is), matches nothing or more
// than once. A program may grow to 1 MiB, or to twice the parent's size if that is more; all blocks together may read
// half a GiB, which bounds the time to a second or two.
func Apply(parent string, blocks []Block) (string, error) {
	p := searched{lines: linesOf(parent), size: len(parent)}
	most := max(maxGrown, 2*len(parent))
	for i, b := range blocks {
		err := p.apply(b)
		if err == nil && p.size > most {
			err = fmt.Errorf("makes a program of more than %d bytes", most)
		}
		if err != nil {
			return "", fmt.Errorf("block %d of %d %w", i+1, len(blocks), err)
		}
	}
	return join(p.lines), nil
}

func (p *searched) apply(b Block) error {
	if n := len(b.middle); n > maxMiddles || n > 1 && !slices.ContainsFunc(p.lines, isMiddle) {
		return fmt.Errorf("has %d lines %s, of which it is not clear which divides it", n, MiddleLine)
	}
	fenced := slices.ContainsFunc(p.lines, isFence)
	for _, at := range slices.Backward(b.middle) {
		search, replace := b.lines[:at], b.lines[at+1:]
		if !fenced {
			search, replace = unfenced(search), unfenced(replace)
		}
		if isBlank(search) && isBlank(p.lines) {
			p.put(0, len(p.lines), replace)
			return nil
		}
		switch found := p.find(search); {
		case p.work > maxWork:
			return errors.New("is not applied: with those before it, it takes passes over too much text")
		case isBlank(search):
			return errors.New("has a blank SEARCH, and the program is not blank")
		case len(found) > 1:
			return fmt.Errorf("matches more than once, at lines %d and %d: its SEARCH needs more lines", found[0].from+1,
				found[1].from+1)
		case len(found) == 1:
			p.replace(found[0], search, replace)
			return nil
		}
	}
	return fmt.Errorf("matches nothing: %s", missing(p.lines, b.lines[:b.middle[0]]))
}

func isFence(l line) bool { return strings.HasPrefix(strings.TrimLeft(l.text, " \t"), "```") }

// unfenced returns the lines within the fence that encloses all of lines, or lines if there is none.
func unfenced(lines []line) []line {
	in := trimBlank(lines, len(lines), len(lines))
	n := len(in) - 1
	if n < 1 || !isFence(in[0]) || strings.TrimSpace(in[n].text) != "```" || slices.ContainsFunc(in[1:n], isFence) {
		return lines
	}
	return in[1:n]
}

// A place is where a SEARCH stands in the program.
type place struct {
	from, to int
	level    int
	at       []int // the lines that are not blank
}

// The levels by which the lines at a place may differ from SEARCH.
const (
	exact  = iota // not at all
	loose         // in white space at their ends, and in blank lines
	spaced        // in white space
)

// find returns the places of search, as many as differ least from it. It takes time linear in the program.
func (p *searched) find(search []line) []place {
	for i, key := range []func(string) string{strings.TrimSpace, squeeze} {
		p.work += (1 + 4*i) * (p.size + bytesOfLine*len(p.lines))
		want := codeOf(search, key)
		if p.code.read(p.lines, key); len(want.at) == 0 || p.work > maxWork {
			return nil
		}
		var found [spaced + 1][]place
		for pos, n, compared := 0, 0, 0; compared < maxCompared; compared += len(want.at) {
			i := bytes.Index(p.code.text[pos:], want.text)
			if i < 0 {
				break
			}
			n += bytes.Count(p.code.text[pos:pos+i], []byte{'\n'})
			m := p.compare(p.code.at[n:n+len(want.at)], search, want.at)
			found[m.level] = append(found[m.level], m)
			n++
			pos += i + 1
		}
		for _, places := range found {
			if len(places) > 0 {
				return places
			}
		}
	}
	return nil
}

// compare returns the place of the lines at, which are those of search at its own but for white space.
func (p *searched) compare(at []int, search []line, own []int) place {
	from := at[0] - own[0]
	if to := from + len(search); from >= 0 && to <= len(p.lines) &&
		slices.EqualFunc(p.lines[from:to], search, func(a, b line) bool { return a.text == b.text }) {
		return place{from, to, exact, at}
	}
	m := place{at[0], at[len(at)-1] + 1, loose, at}
	for i, n := range at {
		if strings.TrimRight(p.lines[n].text, " \t") != strings.TrimRight(search[own[i]].text, " \t") {
			m.level = spaced
		}
	}
	return m
}

// replace puts lines where search stands, with the program's own indentation.
func (p *searched) replace(m place, search, lines []line) {
	if m.level > exact {
		own := codeOf(search, strings.TrimSpace)
		lines = trimBlank(lines, own.begin(0), len(search)-own.end(len(own.at)))
		if m.level == spaced {
			var from, to []line
			for i, n := range own.at {
				from, to = append(from, search[n]), append(to, p.lines[m.at[i]])
			}
			lines = reindented(lines, from, to)
		}
	}
	p.put(m.from, m.to, lines)
}

// put puts lines in the place of others. The last one ends as the last old one did, the others like the program.
func (p *searched) put(from, to int, lines []line) {
	old := p.lines[from:to]
	lines = withEnds(lines, lineEnd(old, p.lines))
	if len(lines) > 0 && len(old) > 0 {
		lines[len(lines)-1].end = old[len(old)-1].end
	}
	p.size += sizeOf(lines) - sizeOf(old)
	p.lines = slices.Replace(p.lines, from, to, lines...)
}

// reindented returns lines, which are to stand in the place of the lines to, with the indentation of these. from are
// the same as to, but for white space, as the writer of lines saw them.
func reindented(lines, from, to []line) []line {
	known, own := map[string]string{}, map[string]bool{}
	low, high, flat := from[0].indent(), from[0].indent(), false
	for i, l := range from {
		in, out := l.indent(), to[i].indent()
		flat = flat || known[in] != out && i > 0 && contains(known, in)
		if known[in] = out; len(in) < len(low) {
			low = in
		}
		if own[out] = true; len(in) > len(high) {
			high = in
		}
	}
	foreign := func(l line) bool { return strings.TrimSpace(l.text) != "" && !own[l.indent()] }
	if !flat && !slices.ContainsFunc(lines, foreign) {
		return lines // as the program has it already
	}
	lines, next := slices.Clone(lines), 0
	for i, l := range lines {
		in := l.indent()
		out, ok := known[in]
		switch {
		case strings.TrimSpace(l.text) == "":
			lines[i].text = ""
			continue
		case flat: // levels were lost, so a line has that of the one that it stands for
			same := func(f line) bool { return squeeze(f.text) == squeeze(l.text) }
			if n := slices.IndexFunc(from[next:min(next+32, len(from))], same); n >= 0 {
				next += n
			}
			out = to[min(next, len(to)-1)].indent()
			next = min(next+1, len(from))
		case !ok:
			out = scaled(in, low, high, known)
		}
		lines[i].text = out + l.text[len(in):]
	}
	return lines
}

func contains(m map[string]string, key string) bool { _, ok := m[key]; return ok }

// scaled returns the indentation in, which known does not have, in the proportion in which known has low and high.
func scaled(in, low, high string, known map[string]string) string {
	first, last := known[low], known[high]
	num, den := len(last)-len(first), len(high)-len(low)
	if den == 0 && low != "" && first != "" && low[0] != first[0] { // tabs for spaces, or the other way
		num, den = len(first), len(low)
	}
	if num <= 0 || den <= 0 {
		num, den = 1, 1
	}
	char := (last + in + " ")[:1]
	return strings.Repeat(char, max(0, len(first)+(len(in)-len(low))*num/den))
}

// missing says why search stands nowhere in lines.
func missing(lines, search []line) string {
	there := map[string]bool{}
	for _, l := range lines {
		there[squeeze(l.text)] = true
	}
	for _, l := range search {
		if !there[squeeze(l.text)] {
			return fmt.Sprintf("its line %q is not in the program", clip(l.text))
		}
	}
	return "its lines are in the program, but not one after the other"
}

// clip returns the beginning of a line, to be shown.
func clip(s string) string {
	const most = 80
	if s = strings.TrimSpace(s); len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
