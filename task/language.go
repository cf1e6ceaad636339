package task

import (
	"slices"
	"strings"
)

// A language is a programming language with its tags in models' replies.
type language struct {
	name    string
	aliases []string
	ext     string
}

// languages are those with more than one name, or a file ending other than ".txt".
var languages = []language{
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

// canonical returns the canonical name of the language with this tag in any case, or the tag itself if it is unknown.
func canonical(tag string) string {
	tag = strings.ToLower(tag)
	for _, l := range languages {
		for _, a := range l.aliases {
			if tag == a {
				return l.name
			}
		}
	}
	return tag
}

// extOf returns the file ending of programs in the language with this tag, or ".txt".
func extOf(tag string) string {
	name := canonical(tag)
	for _, l := range languages {
		if l.name == name {
			return l.ext
		}
	}
	return ".txt"
}

// LanguageOf returns the language of programs in files that end in ext, with its dot: "python" for ".py". It is "" for
// an unknown ending.
func LanguageOf(ext string) string {
	ext = strings.ToLower(ext)
	for _, l := range languages {
		if l.ext == ext || slices.Contains(l.aliases, strings.TrimPrefix(ext, ".")) {
			return l.name
		}
	}
	return ""
}
