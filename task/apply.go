package task

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// apply returns what the blocks, in order, make of parent.
func apply(parent string, blocks []block) (string, error) {
	p := &searched{lines: linesOf(parent)}
	for i, b := range blocks {
		next, err := b.apply(p)
		var lost *notFound
		if i > 0 && errors.As(err, &lost) {
			before := &searched{lines: linesOf(parent)}
			if at := before.strictest(b.readings(b.middle[0])).at; len(at) > 0 {
				lost.earlier = at[0] + 1
			}
		}
		if err != nil {
			return "", fmt.Errorf("block %d of %d %w", i+1, len(blocks), err)
		}
		p = &searched{lines: next}
	}
	return join(p.lines), nil
}

// A searched is a program that blocks look for their SEARCH in.
type searched struct {
	lines  []line
	strict string // all of it, as oneText has it; "" until it is needed
	loose  string
}

// A match is a reading of a block and where in the program its search begins.
type match struct {
	reading
	at []int
}

// apply returns what b makes of p.
func (b block) apply(p *searched) ([]line, error) {
	if n := len(b.middle); n > maxMiddles || n > 1 && !slices.ContainsFunc(p.lines, isMiddle) {
		return nil, fmt.Errorf("has %d lines %s, of which it is not clear which divides it", n, middleLine)
	}
	for _, at := range slices.Backward(b.middle) {
		m, err := b.divided(p, at)
		switch {
		case err != nil:
			return nil, err
		case len(m.at) > 1:
			return nil, fmt.Errorf("matches more than once, at %s: its SEARCH needs more lines", places(m.at))
		case len(m.at) == 1:
			return replaced(p.lines, m), nil
		}
	}
	return nil, &notFound{nearest: nearest(p.lines, b.lines[:b.middle[0]])}
}

// maxMiddles is how many lines that might divide a block are tried.
const maxMiddles = 32

func isMiddle(l line) bool { return strings.Trim(l.text, " \t") == middleLine }

// divided finds the SEARCH of b if the line of index at divides it.
func (b block) divided(p *searched, at int) (match, error) {
	if len(unpad(b.lines[:at])) > 0 {
		return p.strictest(b.readings(at)), nil
	}
	if trim(join(p.lines)) == "" {
		return match{reading{nil, b.lines[at+1:], false}, []int{0}}, nil
	}
	return match{}, errors.New("has a blank SEARCH, and the program is not blank")
}

// strictest returns the first of readings that matches anywhere, and where.
func (p *searched) strictest(readings []reading) match {
	for _, r := range readings {
		if at := p.find(r); len(at) > 0 {
			return match{r, at}
		}
	}
	return match{}
}

// maxPlaces is how many places of a block that matches more than once are looked for.
const maxPlaces = 5

// find returns the indices of the first maxPlaces lines where r's search, which is not empty,
// begins. It takes time linear in the program.
func (p *searched) find(r reading) []int {
	text, search := p.text(r.loose), oneText(slices.Values(r.search), r.loose)
	var at []int
	for pos, n := 0, 0; len(at) < maxPlaces; {
		i := strings.Index(text[pos:], search)
		if i < 0 {
			return at
		}
		n += strings.Count(text[pos:pos+i], "\n")
		at = append(at, n)
		n++
		pos += i + 1
	}
	return at
}

// text returns p as oneText has it.
func (p *searched) text(loose bool) string {
	text := &p.strict
	if loose {
		text = &p.loose
	}
	if *text == "" {
		*text = oneText(func(yield func(string) bool) {
			for i := range p.lines {
				if !yield(p.lines[i].text) {
					return
				}
			}
		}, loose)
	}
	return *text
}

// oneText returns lines with a line end before and after each, so that whole lines are found in whole
// lines only.
func oneText(lines iter.Seq[string], loose bool) string {
	var b strings.Builder
	b.WriteByte('\n')
	for l := range lines {
		if loose {
			l = strings.TrimRight(l, space)
		}
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return b.String()
}

// replaced returns lines with m's search replaced where it is found first. The last new line ends as
// the last old one did, the others like the program.
func replaced(lines []line, m match) []line {
	at := m.at[0]
	old := lines[at : at+len(m.search)]
	if m.search == nil { // a blank program is replaced whole
		old = lines
	}
	end := lineEnd(slices.Concat(old, lines))
	put := make([]line, len(m.replace))
	for i, text := range m.replace {
		put[i] = line{text, end}
	}
	if len(put) > 0 && len(old) > 0 {
		put[len(put)-1].end = old[len(old)-1].end
	}
	return slices.Concat(lines[:at], put, lines[at+len(old):])
}

// places lists lines, whose indices at has, by number.
func places(at []int) string {
	var b strings.Builder
	b.WriteString("lines ")
	for i, n := range at {
		switch {
		case i > 0 && i == len(at)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n+1)
	}
	if len(at) == maxPlaces {
		b.WriteString(" at least")
	}
	return b.String()
}

// notFound says that a block matches nothing.
type notFound struct {
	nearest string
	earlier int // the line where it matched before the other blocks; 0 if nowhere
}

func (e *notFound) Error() string {
	if e.earlier > 0 {
		return fmt.Sprintf("matches line %d of the parent, but a block before it has changed that", e.earlier)
	}
	return "matches nothing: " + e.nearest
}
