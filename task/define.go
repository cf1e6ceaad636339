package task

import (
	"regexp"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/fence"
)

// LanguageOf returns the language of programs in files that end in ext, with its dot: "python" for ".py". It is "" for
// an unknown ending.
func LanguageOf(ext string) string { return fence.NameOf(ext) }

func named(tag string) string { return fence.Name(tag) }

var (
	// definition is what defines a name at the left edge, in languages that have a word for it.
	definition = regexp.MustCompile(`(?m)^(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|static|async|abstract|` +
		`final|unsafe|inline)[ \t]+)*(?:def|class|func|function\*?|fn|struct|type|interface|trait|enum|module|sub|proc)` +
		`[ \t]+(?:\([^)\n]*\)[ \t]*)?([\pL_$][\w$]*)|^(?:export[ \t]+)?(?:const|let|var)[ \t]+([\pL_$][\w$]*)[ \t]*=`)
	// typed is a function of C and its kin: words, the last before a parenthesis, and no semicolon.
	typed = regexp.MustCompile(`(?m)^([\pL_][\w:<>,*&\[\]]*)[ \t]+(?:[\w:<>,*&\[\]]+[ \t]+)*` +
		`[*&]*([\pL_]\w*)[ \t]*\([^;\n]*$`)
	// elided is a comment in the place of code.
	elided = regexp.MustCompile(`(?im)^[ \t]*(?:#|//|/\*|--|%|;)[ \t]*` +
		`(?:\.\.\.|…|.*\b(?:rest of the|existing code|same as (?:before|above)))`)
)

// definitions returns the names that program defines at its left edge.
func definitions(program, language string) map[string]bool {
	names := map[string]bool{}
	for _, m := range definition.FindAllStringSubmatch(program, -1) {
		names[m[1]+m[2]] = true
	}
	if !slices.Contains([]string{"c", "c++", "c#", "cuda", "java"}, named(language)) {
		return names
	}
	for _, m := range typed.FindAllStringSubmatch(program, -1) {
		if !slices.Contains(strings.Fields("return else new throw await"), m[1]) {
			names[m[2]] = true
		}
	}
	return names
}
