package numbers

import (
	"regexp"
	"strings"
)

// A Syntax says what in a program's text is not code.
type Syntax struct {
	comment  string // what begins a comment that the line ends
	block    bool   // whether /* */ is a comment
	triple   bool   // whether three quotes begin a string of several lines
	backtick byte   // 0: no string; 'r': a raw string; 't': a template with ${code}
	regexp   bool   // whether /x/ is a literal
	types    bool   // whether [2]T is a type
}

var (
	JavaScript = Syntax{comment: "//", block: true, backtick: 't', regexp: true}
	Go         = Syntax{comment: "//", block: true, backtick: 'r', types: true}
	Python     = Syntax{comment: "#", triple: true}
	cLike      = Syntax{comment: "//", block: true}
	dashes     = Syntax{comment: "--"}
)

// SyntaxOf returns the syntax of the language that goes by tag, or the one that program looks to have
// if there is no tag. A language that is not known is taken for one like C.
func SyntaxOf(tag, program string) Syntax {
	switch strings.ToLower(tag) {
	case "javascript", "js", "node", "nodejs", "mjs", "cjs", "typescript", "ts":
		return JavaScript
	case "go", "golang":
		return Go
	case "python", "py", "python3", "py3", "julia", "jl", "r", "ruby", "rb", "perl", "pl",
		"shell", "sh", "bash", "yaml", "yml", "toml":
		return Python
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
func guess(program string) Syntax {
	switch {
	case goLine.MatchString(program):
		return Go
	case pythonLine.MatchString(program):
		return Python
	}
	return JavaScript
}
