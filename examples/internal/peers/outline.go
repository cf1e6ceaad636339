package peers

import (
	"math"
	"regexp"
	"strings"
	"unicode/utf8"
)

// An outline is what the distance of two programs depends on: the words in it of two letters or more, and its
// structure as of Python, which is what it imports, defines and calls, and which statements it has.
//
// Source: AdaEvolve in SkyDiscover, search/adaevolve/archive/diversity.py, CodeDiversity.
type outline struct {
	program   string
	length    int
	words     map[string]bool
	structure map[string]bool
}

var (
	aWord     = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_]*|[0-9]+\.?[0-9]*`)
	anImport  = regexp.MustCompile(`(?:from\s+(\S+)\s+)?import\s+(\S+)`)
	aFunction = regexp.MustCompile(`def\s+([a-zA-Z_][a-zA-Z0-9_]*)\s*\(`)
	aClass    = regexp.MustCompile(`class\s+([a-zA-Z_][a-zA-Z0-9_]*)\s*[:(]`)
	aCall     = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*(?:\.[a-zA-Z_][a-zA-Z0-9_]*)+)\s*\(`)
)

// statements are the words that mark a statement; one of each list is enough.
var statements = [][]string{
	{"for "}, {"while "}, {"try:", "try :"}, {"with "}, {"yield "}, {"async ", "await "}, {"lambda "},
}

func outlineOf(program string) outline {
	o := outline{program, utf8.RuneCountInString(program), map[string]bool{}, map[string]bool{}}
	for _, w := range aWord.FindAllString(program, -1) {
		if len(w) >= 2 {
			o.words[w] = true
		}
	}
	for _, m := range anImport.FindAllStringSubmatch(program, -1) {
		if m[1] != "" {
			o.structure["import "+m[1]] = true
		}
		first, _, _ := strings.Cut(m[2], ".")
		o.structure["import "+first] = true
	}
	for kind, of := range map[string]*regexp.Regexp{"def ": aFunction, "class ": aClass, "call ": aCall} {
		for _, m := range of.FindAllStringSubmatch(program, -1) {
			o.structure[kind+m[1]] = true
		}
	}
	for _, marks := range statements {
		for _, mark := range marks {
			if strings.Contains(program, mark) {
				o.structure[marks[0]] = true
			}
		}
	}
	return o
}

// distance is 0.5 of the words', 0.3 of the structures' and 0.2 of the lengths', each in [0, 1].
func (o outline) distance(p outline) float64 {
	if o.program == p.program {
		return 0
	}
	length := math.Abs(float64(o.length-p.length)) / float64(max(o.length, p.length, 1))
	return 0.5*apart(o.words, p.words) + 0.3*apart(o.structure, p.structure) + 0.2*length
}

// apart is the Jaccard distance of two sets, 0 if both are empty.
func apart(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	either := len(a) + len(b) - both
	if either == 0 {
		return 0
	}
	return 1 - float64(both)/float64(either)
}
