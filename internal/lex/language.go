// Package lex reads programs in many languages as tokens: words, numbers, strings, operators and comments. It knows of
// each language only how comments and strings are written, so it reads programs that do not compile as well.
package lex

import (
	"regexp"
	"strings"
)

// A Language says how comments and strings are written.
type Language struct {
	tokens *regexp.Regexp // a group for each Kind but Word

	// Indent reports whether the indentation of a line counts.
	Indent bool
}

// Comments and strings. One that nothing ends goes on to the end of the program, or of its line.
const (
	slashes = `//[^\n]*|/\*(?s:.*?)(?:\*/|\z)`
	hash    = `#[^\n]*`
	none    = `[^\s\S]` // matches nothing

	double       = `"(?:[^"\\\n]|\\(?s:.))*["\\]?`
	single       = `'(?:[^'\\\n]|\\(?s:.))*['\\]?`
	tripleDouble = `"""(?s:(?:[^\\]|\\.)*?)(?:"""|\\?\z)`
	tripleSingle = `'''(?s:(?:[^\\]|\\.)*?)(?:'''|\\?\z)`
	raw          = "`[^`]*`?"
	template     = "`(?:[^`\\\\]|\\\\(?s:.))*[`\\\\]?"
)

var (
	JavaScript = language(slashes, double, single, template)
	Go         = language(slashes, double, single, raw)
	Python     = language(hash, tripleDouble, tripleSingle, double, single).indented()

	// Text has strings and no comments, as all layout may count in it.
	Text = language(none, double).indented()

	c = language(slashes, tripleDouble, double, single, raw) // and what has more strings than C
)

// language returns a language by its comments and its strings.
func language(comment string, str ...string) Language {
	return Language{tokens: regexp.MustCompile(`^(?:(` + comment + `)|(` + strings.Join(str, "|") + `)|(` + number + `)|(` +
		operators + `))`)}
}

func (l Language) indented() Language { return Language{l.tokens, true} }

// Sure returns the language that goes by name, one of those of [task.LanguageOf]. It reports false, with Text, for a
// language that is not known well enough to say that two programs with the same tokens but for comments do the same.
func Sure(name string) (Language, bool) {
	switch name {
	case "javascript", "typescript":
		return JavaScript, true
	case "go", "golang":
		return Go, true
	case "c", "c++", "cuda", "rust", "zig", "c#", "java", "kotlin", "scala", "swift":
		return c, true
	case "python":
		return Python, true
	}
	return Text, false
}

// Likely returns the language that goes by tag, or the one that program looks to be in if tag names none. A language
// that is not known is taken for one like C.
func Likely(tag, program string) Language {
	switch tag = strings.ToLower(tag); tag {
	case "js", "node", "nodejs", "mjs", "cjs", "ts":
		return JavaScript
	case "py", "python3", "py3", "ruby", "rb", "perl", "pl", "shell", "sh", "bash", "yaml", "yml", "toml", "r", "julia", "jl":
		return Python
	case "", "text", "txt", "plaintext":
		if pythonLine.MatchString(program) {
			return Python
		}
		return JavaScript
	}
	if l, ok := Sure(tag); ok {
		return l
	}
	return c
}

var pythonLine = regexp.MustCompile(`(?m)^(def|class|import|from) |^#|:[ \t]*$`)
