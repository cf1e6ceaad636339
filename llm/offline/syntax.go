package offline

import (
	"regexp"
	"strings"
)

// A syntax says what in a program's text is not code.
type syntax struct {
	comment  string // what begins a comment that the line ends
	block    bool   // whether /* */ is a comment
	triple   bool   // whether three quotes begin a string of several lines
	backtick byte   // 0: no string; 'r': a raw string; 't': a template with ${code}
	regexp   bool   // whether /x/ is a literal
	types    bool   // whether [2]T is a type
}

var (
	javascript = syntax{comment: "//", block: true, backtick: 't', regexp: true}
	golang     = syntax{comment: "//", block: true, backtick: 'r', types: true}
	python     = syntax{comment: "#", triple: true}
	cLike      = syntax{comment: "//", block: true}
	dashes     = syntax{comment: "--"}
)

// syntaxOf returns the syntax of the language that goes by tag, or the one that program looks to have
// if there is no tag. A language that is not known is taken for one like C.
func syntaxOf(tag, program string) syntax {
	switch strings.ToLower(tag) {
	case "javascript", "js", "node", "nodejs", "mjs", "cjs", "typescript", "ts":
		return javascript
	case "go", "golang":
		return golang
	case "python", "py", "python3", "py3", "julia", "jl", "r", "ruby", "rb", "perl", "pl",
		"shell", "sh", "bash", "yaml", "yml", "toml":
		return python
	case "lua", "sql", "haskell", "hs":
		return dashes
	case "", "text", "txt", "plaintext":
		return guess(program)
	}
	return cLike
}

var (
	pythonLine = regexp.MustCompile(`(?m)^(def|class|import|from) |^#|:[ \t]*$`)
	goLine     = regexp.MustCompile(`(?m)^(package|func) `)
)

// guess returns the syntax that program looks to have.
func guess(program string) syntax {
	switch {
	case goLine.MatchString(program):
		return golang
	case pythonLine.MatchString(program):
		return python
	}
	return javascript
}
