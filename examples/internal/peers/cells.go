package peers

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// A cell is a bin of length and one of diversity, of 10 each.
type cell [2]int

// String returns the bins.
func (c cell) String() string { return fmt.Sprintf("%d %d", c[0], c[1]) }

const bins = 10

// Cells tell in which cell a program is. Bins divide the range of what was seen so far, so that a program may be in
// another cell later. Diversity is a program's mean distance from up to 20 references.
//
// Source: openevolve/database.py, _calculate_feature_coords and _get_cached_diversity.
type cells struct {
	length, diversity span
	references        []figure
	known             map[string]float64 // diversity, worked out once for each program
	order             []string           // of known, oldest first
}

const (
	referencesSize = 20
	knownSize      = 1000
)

// of returns the cell of a program of a database with all these programs.
func (c *cells) of(program string, all []*resident) cell {
	at := cell{c.length.bin(float64(utf8.RuneCountInString(program)))}
	if len(all) >= 2 {
		at[1] = c.diversity.bin(c.spread(program, all))
	}
	return at
}

// spread returns the mean distance of a program from the references that differ from it.
func (c *cells) spread(program string, all []*resident) float64 {
	if d, ok := c.known[program]; ok {
		return d
	}
	if len(c.references) < referencesSize {
		c.references = references(all)
	}
	var sum, n float64
	of := figureOf(program)
	for _, r := range c.references {
		if r.program != program {
			sum += of.distance(r)
			n++
		}
	}
	if len(c.order) >= knownSize {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
	if c.known == nil {
		c.known = make(map[string]float64)
	}
	c.known[program] = sum / max(1, n)
	c.order = append(c.order, program)
	return c.known[program]
}

// references returns all programs, or if there are too many the oldest one, and then each time the one that is farthest
// from the nearest that was taken.
func references(all []*resident) (taken []figure) {
	left := make([]figure, len(all))
	for i, r := range all {
		left[i] = figureOf(r.Program)
	}
	if len(left) <= referencesSize {
		return left
	}
	near := make([]float64, len(left))
	for i := range near {
		near[i] = math.Inf(1)
	}
	for next := 0; len(taken) < referencesSize; {
		taken = append(taken, left[next])
		near[next] = -1
		farthest := -1
		for i := range left {
			if near[i] >= 0 {
				near[i] = min(near[i], left[i].distance(left[next]))
			}
			if farthest < 0 || near[i] > near[farthest] {
				farthest = i
			}
		}
		next = farthest
	}
	return taken
}

// A span is the range of the numbers that were seen.
type span struct {
	lo, hi float64
	seen   bool
}

// bin takes note of x, and returns its bin.
func (s *span) bin(x float64) int {
	if !s.seen {
		s.lo, s.hi, s.seen = x, x, true
	}
	s.lo, s.hi = min(s.lo, x), max(s.hi, x)
	if s.lo == s.hi {
		return bins / 2
	}
	return min(int((x-s.lo)/(s.hi-s.lo)*bins), bins-1)
}

// A figure is what the distance of two programs depends on.
type figure struct {
	program       string
	length, lines int
	characters    map[rune]bool
}

func figureOf(program string) figure {
	f := figure{program, utf8.RuneCountInString(program), strings.Count(program, "\n"), map[rune]bool{}}
	for _, r := range program {
		f.characters[r] = true
	}
	return f
}

// distance is OpenEvolve's of two programs: 0.1 times the difference in length, 10 times that in lines, and half of the
// number of characters that one of them has alone.
func (f figure) distance(g figure) float64 {
	length, lines := math.Abs(float64(f.length-g.length)), math.Abs(float64(f.lines-g.lines))
	return 0.1*length + 10*lines + 0.5*float64(f.alone(g)+g.alone(f))
}

// alone returns how many characters of f are not in g.
func (f figure) alone(g figure) (n int) {
	for r := range f.characters {
		if !g.characters[r] {
			n++
		}
	}
	return n
}
