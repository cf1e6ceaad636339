package patch

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Pattern stands for paths of files from a folder: "*" for any characters of a name, "**" for any of a path, "?" for
// one of a name.
type Pattern struct{ files *regexp.Regexp }

// NewPattern reads a pattern.
func NewPattern(text string) (Pattern, error) {
	switch {
	case !utf8.ValidString(text):
		return Pattern{}, errors.New("need UTF-8")
	case text == "" || strings.HasPrefix(text, "/") || strings.Contains(text, "\\") || strings.TrimSpace(text) != text:
		return Pattern{}, errors.New("need a path from the base, with slashes")
	case strings.HasPrefix(text, "./") || strings.HasSuffix(text, "/"):
		return Pattern{}, errors.New("need one of files, without ./ before it and with ** after a folder")
	}
	return Pattern{regexp.MustCompile(expression(text, false))}, nil
}

// class is a set of characters in a line of a .gitignore.
var class = regexp.MustCompile(`^\[[!^]?\]?[^\]\\]*\]`)

// expression returns the regular expression of a pattern, which may have classes such as "[a-z]". "**/" may stand for no
// folder at all.
func expression(text string, classes bool) string {
	var b strings.Builder
	b.WriteString("(?s)^")
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			i++
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		case classes && class.MatchString(rest):
			set := class.FindString(rest)
			b.WriteString(strings.Replace(set, "[!", "[^", 1))
			i += len(set) - 1
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return b.String() + "$"
}

// Matches reports whether p stands for the file called path.
func (p Pattern) Matches(path string) bool { return p.files.MatchString(path) }

// AnyMatches reports whether one of all stands for the file called path.
func AnyMatches(all []Pattern, path string) bool {
	return slices.ContainsFunc(all, func(p Pattern) bool { return p.Matches(path) })
}
