package task

import (
	"fmt"
	"strings"
)

// Bounds on the search for the nearest match of a block that matches nothing. It helps people and models, but must take
// only a few milliseconds.
const (
	nearestLines  = 200     // lines of SEARCH that are compared
	nearestPlaces = 64      // occurrences of one line that are compared
	nearestBytes  = 4 << 20 // of the program, compared letter by letter
	nearestWidth  = 200     // bytes of a line, compared letter by letter
	nearestShown  = 80      // bytes of a line, shown
)

// nearest describes in about 300 bytes the part of the program most like search: the one with the most lines equal
// except for white space around them, or else the line most like search's longest.
func nearest(lines []line, search []string) string {
	search = unpad(search)
	if start, alike := mostAlike(lines, search); alike > 0 {
		return describe(lines, search, start, alike)
	}
	longest := ""
	for _, s := range search[:min(len(search), nearestLines)] {
		if s = trim(s); len(s) > len(longest) {
			longest = s
		}
	}
	i := mostSimilar(lines, longest)
	if i < 0 {
		return "no line of the program is like its " + quoted(longest)
	}
	return fmt.Sprintf("for its %s the nearest is line %d, %s", quoted(longest), i+1, quoted(trim(lines[i].text)))
}

// mostAlike returns the position of search in lines with the most equal lines, and their number. start may be negative,
// or so large that search extends beyond the end.
func mostAlike(lines []line, search []string) (start, alike int) {
	places := map[string][]int{}
	for _, s := range search[:min(len(search), nearestLines)] {
		if s = trim(s); s != "" {
			places[s] = nil
		}
	}
	for i, l := range lines {
		s := trim(l.text)
		if at, ok := places[s]; ok && len(at) < nearestPlaces {
			places[s] = append(at, i)
		}
	}
	votes := map[int]int{}
	for i, s := range search[:min(len(search), nearestLines)] {
		for _, at := range places[trim(s)] {
			n := votes[at-i] + 1
			votes[at-i] = n
			if n > alike || n == alike && at-i < start {
				start, alike = at-i, n
			}
		}
	}
	return start, alike
}

// describe describes how search, placed at start, differs from lines.
func describe(lines []line, search []string, start, alike int) string {
	where := fmt.Sprintf("nearest is line %d, with %d of its %d lines alike", max(start, 0)+1, alike, len(search))
	for i, s := range search {
		switch at := start + i; {
		case at < 0:
			return fmt.Sprintf("%s, but its %s comes before line 1", where, quoted(s))
		case at >= len(lines):
			return fmt.Sprintf("%s, but its %s comes after the last line", where, quoted(s))
		case trim(lines[at].text) != trim(s):
			return fmt.Sprintf("%s, but line %d is %s and not %s", where, at+1, quoted(lines[at].text), quoted(s))
		}
	}
	for i, s := range search { // alike in all but white space
		if got := lines[start+i].text; strings.TrimRight(got, space) != strings.TrimRight(s, space) {
			return fmt.Sprintf("nearest is line %d, but for its white space: line %d is %s and not %s",
				start+1, start+i+1, quoted(got), quoted(s))
		}
	}
	return where
}

func quoted(s string) string { return fmt.Sprintf("%q", clip(s, nearestShown)) }

// mostSimilar returns the index of the line most similar to s, or -1 if none is similar. Similarity is Dice's: twice
// the number of shared pairs of neighbouring bytes over the number of all pairs.
func mostSimilar(lines []line, s string) int {
	const enough = 0.4
	want := pairsOf(s)
	best, at, read := enough, -1, 0
	var left [1 << 16]int16 // how many of each pair of s the line at hand has not used yet
	for i, l := range lines {
		if read += len(l.text); read > nearestBytes {
			break
		}
		for _, p := range want {
			left[p] = 0
		}
		for _, p := range want {
			left[p]++
		}
		have, shared := pairsOf(trim(l.text)), 0
		for _, p := range have {
			if left[p] > 0 {
				left[p]--
				shared++
			}
		}
		if d := 2 * float64(shared) / float64(max(len(want)+len(have), 1)); d > best {
			best, at = d, i
		}
	}
	return at
}

// pairsOf returns the pairs of neighbouring bytes of s.
func pairsOf(s string) []uint16 {
	s = s[:min(len(s), nearestWidth)]
	if len(s) < 2 {
		return nil
	}
	pairs := make([]uint16, 0, len(s)-1)
	for i := range len(s) - 1 {
		pairs = append(pairs, uint16(s[i])<<8|uint16(s[i+1]))
	}
	return pairs
}
