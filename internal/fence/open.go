package fence

import (
	"strings"

	"github.com/evoalloc/evoalloc/internal/lex"
)

// Open reports whether program, of the language that goes by tag, ends within a string, a comment or a bracket. It is
// false for languages of which [lex.Sure] is not. It takes time linear in the length of program.
func Open(tag, program string) bool {
	lang, sure := lex.Sure(Name(tag))
	if !sure {
		return false
	}
	depth, last := 0, lex.Token{Kind: lex.Operator}
	for _, last = range lang.Tokens(program) {
		if last.Kind != lex.Operator {
			continue
		}
		switch program[last.Begin] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
	}
	if depth > 0 || last.Kind != lex.String && last.Kind != lex.Comment {
		return depth > 0
	}
	for _, d := range []struct{ begin, end string }{{`"""`, `"""`}, {"'''", "'''"}, {"`", "`"}, {"/*", "*/"}} {
		if rest, ok := strings.CutPrefix(last.Of(program), d.begin); ok {
			return !strings.HasSuffix(rest, d.end)
		}
	}
	return false
}
