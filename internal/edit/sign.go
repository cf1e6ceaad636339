package edit

import (
	"regexp"
	"strings"
)

// The lines that delimit the parts of a block, as prompts show them.
const (
	SearchLine  = "<<<<<<< SEARCH"
	MiddleLine  = "======="
	ReplaceLine = ">>>>>>> REPLACE"
)

// A Sign is a line that delimits a part of a block of changes.
type Sign int

// The signs, which models write with more or fewer characters, other words, in lower case or with a colon.
const (
	NoSign Sign = iota
	Search
	Middle
	Replace
)

var (
	searches = regexp.MustCompile(`(?i)^(?:<{5,}[ \t]*(?:search|original|old|before)?|-{5,}[ \t]*search)[ \t]*:?$`)
	divides  = regexp.MustCompile(`^={5,}$`)
	replaces = regexp.MustCompile(`(?i)^(?:>{5,}[ \t]*(?:replace|updated|new|after)?|\+{5,}[ \t]*replace)[ \t]*:?$`)
)

// SignOf returns the sign that line is.
func SignOf(line string) Sign {
	line = strings.Trim(line, " \t\r")
	switch {
	case len(line) < 5 || line[0] != line[4]:
	case strings.ContainsRune("<-", rune(line[0])) && searches.MatchString(line):
		return Search
	case line[0] == '=' && divides.MatchString(line):
		return Middle
	case strings.ContainsRune(">+", rune(line[0])) && replaces.MatchString(line):
		return Replace
	}
	return NoSign
}
