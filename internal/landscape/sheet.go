package landscape

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
)

// A sheet is a program of the families: lines of words and numbers. A word may have a kind before it, "q:cedar". Lines
// that begin with "#" are comments.
type sheet [][]string

// read returns the sheet that a program's text is.
func read(program string) sheet {
	var s sheet
	for line := range strings.Lines(program) {
		if words := strings.Fields(line); len(words) > 0 && words[0][0] != '#' {
			s = append(s, words)
		}
	}
	return s
}

// String returns the text.
func (s sheet) String() string {
	var b strings.Builder
	for i, line := range s {
		if i > 0 {
			b.WriteByte('\n')
		}
		for j, word := range line {
			if j > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(word)
		}
	}
	return b.String()
}

// clone returns a copy that shares nothing.
func (s sheet) clone() sheet {
	c := make(sheet, len(s))
	for i, line := range s {
		c[i] = slices.Clone(line)
	}
	return c
}

// unlike says why s does not have the form of like, or "" if it has.
func (s sheet) unlike(like sheet) eval.Result {
	if len(s) != len(like) {
		return eval.Invalid("the program has %d lines: need %d", len(s), len(like))
	}
	for i, line := range like {
		if len(s[i]) != len(line) {
			return eval.Invalid("line %d has %d words: need %d", i+1, len(s[i]), len(line))
		}
		for j, word := range line {
			if kindOf(s[i][j]) != kindOf(word) || isNumber(s[i][j]) != isNumber(word) {
				return eval.Invalid("line %d has %q where %q was", i+1, s[i][j], word)
			}
		}
	}
	return eval.Result{Valid: true}
}

// numbers returns the numbers of a line, without its words.
func numbers(line []string) []float64 {
	var list []float64
	for _, word := range line {
		if v, err := strconv.ParseFloat(word, 64); err == nil {
			list = append(list, v)
		}
	}
	return list
}

func isNumber(word string) bool { return word != "" && word[0] >= '0' && word[0] <= '9' }

// kindOf returns what stands before the colon of a word, and nameOf what stands after it.
func kindOf(word string) string {
	kind, _, found := strings.Cut(word, ":")
	if !found {
		return ""
	}
	return kind
}

func nameOf(word string) string { return word[strings.IndexByte(word, ':')+1:] }

// number returns v as programs write it: in [0, 1], with four decimals.
func number(v float64) string { return strconv.FormatFloat(min(max(v, 0), 1), 'f', 4, 64) }

// repertoire are the words that there are.
var repertoire = []string{"amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath"}

// randomWords returns lines of so many of the first n words.
func randomWords(lines, perLine, n int, r *rand.Rand) sheet {
	s := make(sheet, lines)
	for i := range s {
		for range perLine {
			s[i] = append(s[i], repertoire[r.IntN(n)])
		}
	}
	return s
}

// flat returns the words of all lines, one after the other.
func (s sheet) flat() []string { return slices.Concat(s...) }

// agreeing counts the places at which two lists have the same word.
func agreeing(a, b []string) int {
	n := 0
	for i, word := range a {
		if word == b[i] {
			n++
		}
	}
	return n
}
