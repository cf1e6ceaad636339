package lex

import (
	"strings"
	"testing"
)

// essence returns the tokens of a program, which two programs share that differ in comments and layout alone.
func essence(program, language string) string {
	lang, _ := Sure(language)
	return strings.Join(tokensOf(program, lang), "\x00")
}

func TestCommentsAndLayoutDoNotCount(t *testing.T) {
	const js, py = "javascript", "python"
	for _, tt := range []struct {
		reason, language, a, b string
		equal                  bool
	}{
		{"spaces between tokens", js, "let a=1;f( a )", "let  a = 1 ; f(a)", true},
		{"indentation and blank lines", js, "if (a) {\n  b()\n\n}\n", "if (a) {\n\tb()\n}", true},
		{"line ends of another system", js, "a\r\nb", "a\nb", true},
		{"comments", js, "a() // one\n/* two */ b()", "a()\nb()", true},
		{"a comment over lines is a line end", js, "a /* x\n y */ b", "a\nb", true},
		{"a line end may end a statement", js, "return\na", "return a", false},
		{"other constants", js, "a = 1", "a = 2", false},
		{"a space within a string", js, `s = "a b"`, `s = "a  b"`, false},
		{"what looks like a comment in a string", js, `s = "//a"`, `s = "//b"`, false},
		{"in a template over lines", js, "s = `//a\n//b`", "s = `//a\n//c`", false},
		{"in a pattern", js, `s.replace(/\/\/a/, 1)`, `s.replace(/\/\/b/, 1)`, false},
		{"a division is no pattern", js, `a / b // c / d`, `a/b`, true},
		{"signs apart are other operators", js, "a - -b", "a--b", false},
		{"words run together are other words", js, "let a", "leta", false},
		{"an escaped quote", js, `s = "\"//a"`, `s = "\"//b"`, false},
		{"a string that does not end ends with its line", js, "s = 'a\nb // c", "s = 'a\nb", true},
		{"Python: comments", py, "a = 1 # one\n", "a = 1", true},
		{"Python: indentation counts", py, "if a:\n  b()\n  c()", "if a:\n  b()\nc()", false},
		{"Python: the indentation of a comment does not", py, "if a:\n  b()\n# x\n  c()", "if a:\n  b()\n  c()", true},
		{"Python: blank lines do not", py, "a\n\n\nb", "a\nb", true},
		{"Python: a docstring is a string", py, `"""# a"""`, `"""# b"""`, false},
		{"Python: // divides", py, "a // b", "a", false},
		{"C: a preprocessor line", "c", "#define A 1", "#define A 2", false},
		{"after a template with code in it", js, "s = `${f({a: 1})} //` // a", "s = `${f({a: 1})} //` // b", true},
		{"Go: a raw string of a backslash ends", "go", "a = `\\` + b // c", "a = `\\` + b", true},
		{"Go: what looks like a comment after it", "go", "a = `\\` + `//a`", "a = `\\` + `//b`", false},
		{"Java: what looks like a comment in a text block", "java", "s = \"\"\"\n// a\n\"\"\"", "s = \"\"\"\n// b\n\"\"\"",
			false},
		{"Python: strings in single quotes, three times", py, "s = '''\n# a\n'''", "s = '''\n# b\n'''", false},
		{"nothing", js, "", " \n// x", true},
	} {
		if equal := essence(tt.a, tt.language) == essence(tt.b, tt.language); equal != tt.equal {
			t.Errorf("%s: %q and %q equal: %v, as %q and %q", tt.reason, tt.a, tt.b, equal, essence(tt.a, tt.language),
				essence(tt.b, tt.language))
		}
	}
}

// A program may be all indentation, which must not cost the square of its length.
func TestIndentationIsLinear(t *testing.T) {
	program := strings.Repeat(" ", 1<<16) + "x"
	for _, language := range []string{"javascript", "python", "text"} {
		lang, _ := Sure(language)
		if n := testing.AllocsPerRun(1, func() { tokensOf(program, lang) }); n > 1000 {
			t.Errorf("%s: %v allocations, want a few", language, n)
		}
	}
}

func TestShingles(t *testing.T) {
	for _, tt := range []struct {
		reason, program string
		k, want         int
	}{
		{"runs of three of five tokens", "a b c d e", 3, 3},
		{"runs that are equal are one", "a b a b a b", 2, 2},
		{"fewer tokens than a run", "a b", 5, 1},
		{"none", "", 5, 1},
		{"comments and line ends are none", "a // x\nb", 2, 1},
	} {
		if got := len(Shingles(tt.program, "javascript", tt.k)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.reason, got, tt.want)
		}
	}
}
