package landscape

import (
	"fmt"
	"math"
	"strings"
)

// Structure is what a program consists of but for its numbers, in at most as many cells as a grid of a few hundred
// calls can fill: all words where there are numbers among them, the first words of the first two lines where there are
// none, and where there are numbers alone the quarter of the square that the first two points are in.
func Structure(program string) string {
	s := read(program)
	var words, firsts []string
	numbersAlone := true
	hasNumbers := false
	for i, line := range s {
		for _, word := range line {
			if isNumber(word) {
				hasNumbers = true
				continue
			}
			numbersAlone = false
			words = append(words, word)
		}
		if i < 2 {
			firsts = append(firsts, line[0])
		}
	}
	switch {
	case numbersAlone:
		return quarters(s)
	case hasNumbers:
		return strings.Join(words, " ")
	}
	return strings.Join(firsts, " ")
}

// quarters says where the first two points are.
func quarters(s sheet) string {
	var b strings.Builder
	for _, line := range s[:min(2, len(s))] {
		for _, v := range numbers(line) {
			fmt.Fprintf(&b, "%v ", math.Floor(2*v))
		}
	}
	return b.String()
}
