// Package lex reads programs in many languages as tokens: words, numbers, strings, operators and comments. It knows of
// each language only how comments and strings are written, so it reads programs that do not compile as well.
package lex

import (
	"regexp"
	"strings"
)

// A Language says how comments and strings are written.
type Language struct {
	line     string // what begins a comment that ends with the line, "" for none
	block    bool   // whether /* */ is a comment
	quotes   string // what begins and ends a string on one line
	triple   string // the quotes of which three begin and end a string over lines
	backtick byte   // '\'' for a raw string, '$' for a template with ${code}, 0 for an operator
	regexp   bool   // whether /x/ is a pattern
	arrow    bool   // whether <- is an operator
	types    bool   // whether [2]T is a type

	// Indent reports whether the indentation of a line counts.
	Indent bool
}

var (
	JavaScript = Language{line: "//", block: true, quotes: `"'`, backtick: '$', regexp: true}
	Go         = Language{line: "//", block: true, quotes: `"'`, backtick: '\'', arrow: true, types: true}
	Python     = Language{line: "#", quotes: `"'`, triple: `"'`, Indent: true}

	// Text has strings and no comments, as all layout may count in it.
	Text = Language{quotes: `"`, Indent: true}

	c      = Language{line: "//", block: true, quotes: `"'`}
	java   = Language{line: "//", block: true, quotes: `"'`, triple: `"`, backtick: '\''}
	r      = Language{line: "#", quotes: `"'`, triple: `"`, arrow: true}
	dashed = Language{line: "--", quotes: `"'`}
)

// Sure returns the language that goes by name, one of those of [task.LanguageOf]. It reports false, with Text, for a
// language that is not known well enough to say that two programs with the same tokens but for comments do the same.
func Sure(name string) (Language, bool) {
	switch name {
	case "javascript", "typescript":
		return JavaScript, true
	case "go":
		return Go, true
	case "c", "c++", "cuda", "rust", "zig":
		return c, true
	case "c#", "java", "kotlin", "scala", "swift":
		return java, true
	case "python":
		return Python, true
	case "r", "julia":
		return r, true
	case "sql":
		return dashed, true
	}
	return Text, false
}

// Likely returns the language that goes by tag, or the one that program looks to be in if tag names none. A language
// that is not known is taken for one like C.
func Likely(tag, program string) Language {
	switch tag = strings.ToLower(tag); tag {
	case "js", "node", "nodejs", "mjs", "cjs", "ts":
		return JavaScript
	case "golang":
		return Go
	case "py", "python3", "py3", "ruby", "rb", "perl", "pl", "shell", "sh", "bash", "yaml", "yml", "toml":
		return Python
	case "jl":
		return r
	case "lua", "haskell", "hs":
		return dashed
	case "", "text", "txt", "plaintext":
		return guess(program)
	}
	if l, ok := Sure(tag); ok {
		return l
	}
	return c
}

var (
	pythonLine = regexp.MustCompile(`(?m)^(def|class|import|from) |^#|:[ \t]*$`)
	goLine     = regexp.MustCompile(`(?m)^(package|func) `)
)

// guess returns the language that program looks to be in.
func guess(program string) Language {
	switch {
	case goLine.MatchString(program):
		return Go
	case pythonLine.MatchString(program):
		return Python
	}
	return JavaScript
}
