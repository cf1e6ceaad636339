package task

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Bounds on applying blocks. A reply can be far longer than any program, and each block costs passes over the program
// so far.
const (
	maxGrown = 1 << 20 // bytes of the program after a block, unless twice the parent is more
	maxWork  = 1 << 30 // bytes read and moved for all blocks
)

// apply applies the blocks, in order, to parent.
func apply(parent string, blocks []block) (string, error) {
	most := max(maxGrown, 2*len(parent))
	if err := checkSize(blocks, 2*most); err != nil {
		return "", err
	}
	p := newSearched(parent)
	for i, b := range blocks {
		err := b.apply(p)
		var lost *notFound
		switch {
		case p.work > maxWork:
			err = errWork
		case err == nil && p.size > most:
			err = fmt.Errorf("makes a program of more than %d bytes", most)
		case i > 0 && errors.As(err, &lost):
			before := newSearched(parent)
			if at := before.strictest(b.readings(b.middle[0])).at; len(at) > 0 {
				lost.earlier = at[0] + 1
			}
		}
		if err != nil {
			return "", fmt.Errorf("block %d of %d %w", i+1, len(blocks), err)
		}
	}
	return join(p.lines), nil
}

// checkSize returns an error if blocks have more than most bytes.
func checkSize(blocks []block, most int) error {
	size := 0
	for _, b := range blocks {
		for _, l := range b.lines {
			size += len(l) + 1
		}
	}
	if size > most {
		return fmt.Errorf("its blocks have more than %d bytes", most)
	}
	return nil
}

// A searched is the program that blocks search and change.
type searched struct {
	lines         []line
	size          int    // in bytes
	strict, loose []byte // all of it by oneText; empty until needed
	work          int    // bytes read or moved so far
}

func newSearched(program string) *searched {
	return &searched{lines: linesOf(program), size: len(program)}
}

// A match is a reading of a block and the line where its search begins in the program.
type match struct {
	reading
	at []int
}

// apply applies b to p.
func (b block) apply(p *searched) error {
	if n := len(b.middle); n > maxMiddles || n > 1 && !slices.ContainsFunc(p.lines, isMiddle) {
		return fmt.Errorf("has %d lines %s, of which it is not clear which divides it", n, middleLine)
	}
	for _, at := range slices.Backward(b.middle) {
		if p.work += bytesOfLine * len(b.lines); p.work > maxWork {
			return errWork
		}
		m, err := b.divided(p, at)
		switch {
		case err != nil:
			return err
		case len(m.at) > 1:
			return fmt.Errorf("matches more than once, at %s: its SEARCH needs more lines", places(m.at))
		case len(m.at) == 1:
			p.replace(m)
			return nil
		}
	}
	return &notFound{nearest: nearest(p.lines, b.lines[:b.middle[0]])}
}

// bytesOfLine is how many bytes are read in the time that it takes to move a line.
const bytesOfLine = 8

var errWork = errors.New("is not applied: with those before it, it takes passes over too much text")

// maxMiddles bounds the lines that are tried as a block's divider.
const maxMiddles = 32

func isMiddle(l line) bool { return strings.Trim(l.text, " \t") == middleLine }

// divided finds the SEARCH of b if the line with index at divides b.
func (b block) divided(p *searched, at int) (match, error) {
	if len(unpad(b.lines[:at])) > 0 {
		return p.strictest(b.readings(at)), nil
	}
	if trim(join(p.lines)) == "" {
		return match{reading{nil, b.lines[at+1:], false}, []int{0}}, nil
	}
	return match{}, errors.New("has a blank SEARCH, and the program is not blank")
}

// strictest returns the match of the first of readings that matches anywhere.
func (p *searched) strictest(readings []reading) match {
	for _, r := range readings {
		if at := p.find(r); len(at) > 0 {
			return match{r, at}
		}
	}
	return match{}
}

// maxPlaces bounds the matches that are listed of a block that matches more than once.
const maxPlaces = 5

// find returns the first maxPlaces line indices where r's search, which is not empty, begins. It takes time linear in
// the program.
func (p *searched) find(r reading) []int {
	text, search := p.text(r.loose), oneText(nil, slices.Values(r.search), r.loose)
	if p.work += len(text) + len(search); p.work > maxWork {
		return nil
	}
	var at []int
	for pos, n := 0, 0; len(at) < maxPlaces; {
		i := bytes.Index(text[pos:], search)
		if i < 0 {
			return at
		}
		n += bytes.Count(text[pos:pos+i], []byte{'\n'})
		at = append(at, n)
		n++
		pos += i + 1
	}
	return at
}

// text returns the program by oneText.
func (p *searched) text(loose bool) []byte {
	text := &p.strict
	if loose {
		text = &p.loose
	}
	if len(*text) == 0 {
		p.work += p.size
		*text = oneText(*text, func(yield func(string) bool) {
			for i := range p.lines {
				if !yield(p.lines[i].text) {
					return
				}
			}
		}, loose)
	}
	return *text
}

// oneText appends lines to b with a line end before and after each, so that whole lines match only whole lines.
func oneText(b []byte, lines iter.Seq[string], loose bool) []byte {
	b = append(b, '\n')
	for l := range lines {
		if loose {
			l = strings.TrimRight(l, space)
		}
		b = append(b, l...)
		b = append(b, '\n')
	}
	return b
}

// replace puts m's replacement where its search matches first. The last new line ends as the last old one did, the
// others like the program.
func (p *searched) replace(m match) {
	at := m.at[0]
	old := p.lines[at : at+len(m.search)]
	if m.search == nil { // a blank program is replaced whole
		old = p.lines
	}
	end := lineEnd(old, p.lines)
	put := make([]line, len(m.replace))
	for i, text := range m.replace {
		put[i] = line{text, end}
	}
	if len(put) > 0 && len(old) > 0 {
		put[len(put)-1].end = old[len(old)-1].end
	}
	p.size += sizeOf(put) - sizeOf(old)
	p.lines = slices.Replace(p.lines, at, at+len(old), put...)
	p.work += bytesOfLine * len(p.lines)
	p.strict, p.loose = p.strict[:0], p.loose[:0]
}

// places lists the lines with the indices at, by number.
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

// notFound is the error of a block that matches nothing.
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
