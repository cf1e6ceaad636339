package population

import (
	"strings"

	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/task"
)

// languageOf returns the language of a task's programs by the ending of their files.
func languageOf(t task.Task) string { return task.LanguageOf(task.Ext(t)) }

// essence returns what a program is but for comments and layout: two programs with one essence do the same. Where that
// is not sure, two programs that do the same have different ones: line ends count, as some languages end a statement
// there, and so do all strings.
func essence(program, language string) string {
	lang, sure := lex.Sure(language)
	if sure {
		return strings.Join(tokensOf(program, lang), "\x00")
	}
	var b strings.Builder
	for line := range strings.Lines(program) {
		b.WriteString(strings.TrimRight(line, " \t\r\n"))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// lineEnd is the token of one or more line ends, with the indentation of the line after them where that counts.
const lineEnd = "\n"

// tokensOf returns the words, strings, operators and line ends of a program, without comments. A path of names, such as
// "a.b.c", is one word. A block comment with a line end in it counts as one, as it does in JavaScript.
func tokensOf(program string, lang lex.Language) (found []string) {
	program = strings.ReplaceAll(program, "\r\n", "\n")
	end, wordEnd := 0, -1 // of what was read, and of the last token if it is a word
	newLine := true
	for _, t := range lang.Tokens(program) {
		layout, text := program[end:t.Begin], t.Of(program)
		newLine = newLine || strings.Contains(layout, "\n")
		end = t.End
		if t.Kind == lex.Comment {
			newLine = newLine || strings.Contains(text, "\n")
			continue
		}
		if newLine {
			if indent := indentation(layout, lang); len(found) > 0 || indent != "" {
				found = append(found, lineEnd+indent)
			}
		}
		newLine = false
		word := t.Kind == lex.Word || t.Kind == lex.Number || strings.Trim(text, ".") == ""
		if word && t.Begin == wordEnd {
			found[len(found)-1] += text
		} else {
			found = append(found, text)
		}
		if word {
			wordEnd = t.End
		}
	}
	return found
}

// indentation returns the white space that a line begins with, of the layout before its first token.
func indentation(layout string, lang lex.Language) string {
	if !lang.Indent {
		return ""
	}
	return layout[strings.LastIndexByte(layout, '\n')+1:]
}
