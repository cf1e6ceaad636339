package tree

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// An index knows of texts which names they define and which they use.
type index struct {
	defines map[string][]string // by path
	uses    map[string]map[string]bool
	// the same by name: the files of the base that define it, and that use it
	definers, users map[string][]string
}

func newIndex(texts map[string]string) *index {
	x := &index{make(map[string][]string), make(map[string]map[string]bool), make(map[string][]string),
		make(map[string][]string)}
	for name, text := range texts {
		for _, d := range definitions(name, text) {
			x.defines[name] = append(x.defines[name], d.name)
		}
		x.uses[name] = namesIn(text)
		for _, d := range x.defines[name] {
			x.definers[d] = append(x.definers[d], name)
		}
		for u := range x.uses[name] {
			x.users[u] = append(x.users[u], name)
		}
	}
	return x
}

var word = regexp.MustCompile(`[A-Za-z_]\w{2,}`)

func namesIn(text string) map[string]bool {
	all := make(map[string]bool)
	for _, w := range word.FindAllString(text, -1) {
		all[w] = true
	}
	return all
}

// A definition is a line that defines a name.
type definition struct{ name, line string }

// definers find the definitions of languages, by the endings of files. The name is the first group that matches.
var definers = map[string]*regexp.Regexp{
	".go": regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?(\w+)|type (\w+)|const (\w+)|var (\w+)).*$`),
	".py": regexp.MustCompile(`(?m)^(?: {4}|\t)?(?:async )?(?:def|class) (\w+).*$`),
	".js": regexp.MustCompile(`(?m)^(?:export )?(?:default )?(?:(?:async )?function\*? (\w+)|` +
		`class (\w+)|(?:const|let|var) (\w+)).*$`),
	".rs": regexp.MustCompile(`(?m)^(?:    )?(?:pub(?:\([^)]*\))? )?(?:(?:unsafe |async |const )*fn (\w+)|` +
		`(?:struct|enum|trait|mod|type) (\w+)).*$`),
	".c": regexp.MustCompile(`(?m)^[A-Za-z_][\w \t*]*?\b(\w+)\([^;]*$`),
}

// definerOf returns what finds the definitions of a file, nil where its language is not known.
func definerOf(name string) *regexp.Regexp {
	ext := strings.ToLower(path.Ext(name))
	switch ext {
	case ".ts", ".tsx", ".jsx", ".mjs", ".cjs":
		ext = ".js"
	case ".h", ".cc", ".cpp", ".hpp", ".cu":
		ext = ".c"
	}
	return definers[ext]
}

func definitions(name, text string) (all []definition) {
	finder := definerOf(name)
	if finder == nil {
		return nil
	}
	for _, groups := range finder.FindAllStringSubmatch(text, -1) {
		all = append(all, definition{cmp.Or(groups[1:]...), strings.TrimRight(groups[0], " \t\r{:")})
	}
	return all
}

// related returns how many names each file shares with those called by: names that one defines and the other uses.
func (x *index) related(by []string) map[string]int {
	defined, used := make(map[string]bool), make(map[string]bool)
	for _, name := range by {
		for _, d := range x.defines[name] {
			defined[d] = true
		}
		maps.Copy(used, x.uses[name])
	}
	shared := make(map[string]int)
	for d := range defined {
		for _, name := range x.users[d] {
			shared[name]++
		}
	}
	for u := range used {
		for _, name := range x.definers[u] {
			shared[name]++
		}
	}
	return shared
}

// with returns x with the files of a program in the place of those that they change. These are never candidates, so the
// index by name stays that of the base.
func (x *index) with(files map[string]string) *index {
	if len(files) == 0 {
		return x
	}
	y := &index{maps.Clone(x.defines), maps.Clone(x.uses), x.definers, x.users}
	changed := newIndex(files)
	for name := range files {
		y.defines[name], y.uses[name] = changed.defines[name], changed.uses[name]
	}
	return y
}

// byRelation sorts candidates: those that share more names with the files called by come first.
func (x *index) byRelation(by, candidates []string) {
	if len(by) == 0 {
		return
	}
	shared := x.related(by)
	slices.SortStableFunc(candidates, func(a, b string) int { return cmp.Compare(shared[b], shared[a]) })
}
