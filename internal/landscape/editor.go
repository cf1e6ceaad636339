package landscape

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// An editor changes sheets, blind to what they score.
type editor struct {
	*rand.Rand
	words []string // that it knows
}

// defaultNumber is what comes to mind first.
const defaultNumber = "0.5000"

// chance reports whether something of chance p happens. It draws nothing if p is 0.
func (e editor) chance(p float64) bool { return p > 0 && e.Float64() < p }

// edit replaces one word or number; in a quarter of replies a second one, and in a quarter of these a third one.
func (e editor) edit(s sheet, numbersAlone bool) sheet {
	for n := 1; n <= 3; n++ {
		if places := s.places(numbersAlone); len(places) > 0 {
			at := places[e.IntN(len(places))]
			e.replace(s[at[0]], at[1])
		}
		if !e.chance(0.25) {
			break
		}
	}
	return s
}

// places returns where the words and numbers stand that may be changed: by line, and by place in the line.
func (s sheet) places(numbersAlone bool) [][2]int {
	var all [][2]int
	for i, line := range s {
		for j, word := range line {
			if !numbersAlone || isNumber(word) {
				all = append(all, [2]int{i, j})
			}
		}
	}
	return all
}

// replace replaces one word by another, or moves a number. The numbers of a line belong to the word that it begins
// with, so another word there begins with default numbers.
func (e editor) replace(line []string, j int) {
	if v, err := strconv.ParseFloat(line[j], 64); err == nil {
		line[j] = number(v + e.NormFloat64()*math.Pow(10, -2.5*e.Float64())/2)
		return
	}
	line[j] = e.other(line[j])
	if j > 0 {
		return
	}
	for k := 1; k < len(line); k++ {
		if isNumber(line[k]) {
			line[k] = defaultNumber
		}
	}
}

// other returns another word of the same kind.
func (e editor) other(word string) string {
	head, name := word[:len(word)-len(nameOf(word))], nameOf(word)
	for {
		if w := e.words[e.IntN(len(e.words))]; w != name {
			return head + w
		}
	}
}

// anew writes a line anew, and with chance one half each those after it.
func (e editor) anew(s sheet) sheet {
	for i := e.IntN(len(s)); i < len(s); i++ {
		for j, word := range s[i] {
			switch {
			case !isNumber(word):
				s[i][j] = word[:len(word)-len(nameOf(word))] + e.words[e.IntN(len(e.words))]
			case isNumber(s[i][0]): // a line of numbers alone has none that belong to a word
				s[i][j] = number(e.Float64())
			default:
				s[i][j] = defaultNumber
			}
		}
		if e.chance(0.5) {
			break
		}
	}
	return s
}

// splice puts a run of lines of another program in the place of those of s.
func (e editor) splice(s, other sheet) sheet {
	n := min(len(s), len(other))
	length := 1 + e.IntN(max(n-1, 1))
	begin := e.IntN(n - length + 1)
	for i := begin; i < begin+length; i++ {
		s[i] = slices.Clone(other[i])
	}
	if e.chance(0.1) && len(s[begin]) > 1 {
		s[begin] = s[begin][1:]
	}
	if e.chance(0.5) {
		e.edit(s, false)
	}
	return s
}

// borrow takes over one line.
func (e editor) borrow(s, other sheet) {
	i := e.IntN(min(len(s), len(other)))
	s[i] = slices.Clone(other[i])
}

// mend puts a word or a number into the line that is said to lack one, or takes one out, without knowing which.
func (e editor) mend(s sheet, line int) sheet {
	if line > len(s) {
		return e.edit(s, false)
	}
	words := s[line-1]
	j := e.IntN(len(words))
	if e.chance(0.2) && len(words) > 1 {
		s[line-1] = slices.Delete(words, j, j+1)
		return s
	}
	s[line-1] = slices.Insert(words, e.IntN(len(words)+1), words[j])
	return s
}

// use puts a word at a place of its kind that has another one, and reports whether there is such a place.
func (e editor) use(s sheet, word string) bool {
	var at []*string
	for i := range s {
		for j := range s[i] {
			if w := &s[i][j]; kindOf(*w) == kindOf(word) && *w != word {
				at = append(at, w)
			}
		}
	}
	if len(at) == 0 || !slices.Contains(e.words, strings.ToLower(nameOf(word))) {
		return false
	}
	*at[e.IntN(len(at))] = word
	return true
}
