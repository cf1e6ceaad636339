package lex

import (
	"hash/maphash"
	"slices"
	"strings"
)

// lineEnd is the token of one or more line ends, with the indentation of the line after them where that counts.
const lineEnd = "\n"

// tokensOf returns the words, strings, operators and line ends of a program, without comments. A block comment with a
// line end in it counts as one, as it does in JavaScript.
func tokensOf(program string, lang Language) (found []string) {
	program = strings.ReplaceAll(program, "\r\n", "\n")
	end, newLine := 0, true // of what was read
	for _, t := range lang.Tokens(program) {
		layout, text := program[end:t.Begin], t.Of(program)
		newLine = newLine || strings.Contains(layout, "\n")
		end = t.End
		if t.Kind == Comment {
			newLine = newLine || strings.Contains(text, "\n")
			continue
		}
		indent := ""
		if lang.Indent {
			indent = layout[strings.LastIndexByte(layout, '\n')+1:]
		}
		if newLine && (len(found) > 0 || indent != "") {
			found = append(found, lineEnd+indent)
		}
		found, newLine = append(found, text), false
	}
	return found
}

// shingleSeed makes the hashes of one process. Nothing is decided by their values, only by which are equal.
var shingleSeed = maphash.MakeSeed()

// Shingles returns the sorted hashes of the runs of k tokens of a program. A program of fewer has one, of all.
func Shingles(program, language string, k int) []uint64 {
	lang, _ := Sure(language)
	words := slices.DeleteFunc(tokensOf(program, lang), func(t string) bool { return strings.HasPrefix(t, lineEnd) })
	var set []uint64
	for i := 0; i == 0 || i+k <= len(words); i++ {
		var h maphash.Hash
		h.SetSeed(shingleSeed)
		for _, w := range words[i:min(i+k, len(words))] {
			h.WriteString(w)
			h.WriteByte(0)
		}
		set = append(set, h.Sum64())
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// Jaccard returns how alike two sorted sets are. It reports false as soon as it is sure that they are less alike than
// least: with d elements in one of them alone, they are (|A|+|B|−d)/(|A|+|B|+d) alike.
func Jaccard(a, b []uint64, least float64) (float64, bool) {
	both := float64(len(a) + len(b))
	most := int((1-least)/(1+least)*both + 1e-9)
	apart := 0
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			i, j = i+1, j+1
			continue
		case a[i] < b[j]:
			i++
		default:
			j++
		}
		if apart++; apart > most {
			return 0, false
		}
	}
	apart += len(a) - i + len(b) - j
	return (both - float64(apart)) / (both + float64(apart)), apart <= most
}
