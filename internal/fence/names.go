package fence

import (
	"slices"
	"strings"
)

// A named is a language with its tags in models' replies.
type named struct {
	name    string
	aliases []string
	ext     string
}

// names are the languages with more than one name, or a file ending other than ".txt".
var names = []named{
	{"javascript", []string{"js", "node", "nodejs", "mjs", "cjs", "ecmascript", "es6"}, ".js"},
	{"typescript", []string{"ts", "mts"}, ".ts"},
	{"python", []string{"py", "python3", "py3", "cpython"}, ".py"},
	{"go", []string{"golang"}, ".go"},
	{"c", nil, ".c"},
	{"c++", []string{"cpp", "cxx", "cc", "cplusplus"}, ".cpp"},
	{"c#", []string{"cs", "csharp"}, ".cs"},
	{"cuda", []string{"cu"}, ".cu"},
	{"rust", []string{"rs"}, ".rs"},
	{"zig", nil, ".zig"},
	{"java", nil, ".java"},
	{"kotlin", []string{"kt"}, ".kt"},
	{"scala", nil, ".scala"},
	{"swift", nil, ".swift"},
	{"julia", []string{"jl"}, ".jl"},
	{"r", nil, ".r"},
	{"ruby", []string{"rb"}, ".rb"},
	{"perl", []string{"pl"}, ".pl"},
	{"php", nil, ".php"},
	{"lua", nil, ".lua"},
	{"haskell", []string{"hs"}, ".hs"},
	{"ocaml", []string{"ml"}, ".ml"},
	{"fortran", []string{"f90", "f95"}, ".f90"},
	{"lean", []string{"lean4"}, ".lean"},
	{"shell", []string{"sh", "bash", "zsh"}, ".sh"},
	{"sql", nil, ".sql"},
	{"json", nil, ".json"},
	{"yaml", []string{"yml"}, ".yaml"},
	{"latex", []string{"tex"}, ".tex"},
	{"markdown", []string{"md"}, ".md"},
	{"text", []string{"txt", "plaintext", "plain"}, ".txt"},
}

// Name returns the name of the language that goes by tag in any case, or tag in lower case if none does.
func Name(tag string) string {
	tag = strings.ToLower(tag)
	for _, l := range names {
		if slices.Contains(l.aliases, tag) {
			return l.name
		}
	}
	return tag
}

// Ext returns the ending of files with programs in the language that goes by tag, or ".txt".
func Ext(tag string) string {
	name := Name(tag)
	for _, l := range names {
		if l.name == name {
			return l.ext
		}
	}
	return ".txt"
}

// NameOf returns the name of the language of files that end in ext, with its dot, in any case: "python" for ".py". It
// is "" for an unknown ending.
func NameOf(ext string) string {
	ext = strings.ToLower(ext)
	for _, l := range names {
		if l.ext == ext || slices.Contains(l.aliases, strings.TrimPrefix(ext, ".")) {
			return l.name
		}
	}
	return ""
}
