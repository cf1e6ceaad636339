package lex

import (
	goscan "go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// texts returns the tokens of a program with a letter before each for its kind.
func texts(program string, l Language) string {
	var out []string
	for _, t := range l.Tokens(program) {
		out = append(out, "csnow"[t.Kind:t.Kind+1]+t.Of(program))
	}
	return strings.Join(out, " ")
}

func TestTokens(t *testing.T) {
	for _, tt := range []struct {
		reason    string
		lang      Language
		src, want string
	}{
		{"a template is one string, with its code", JavaScript, "`a ${f({b: \"}\"})} c` + d", "s`a ${f({b: \"}\"})} c` o+ wd"},
		{"a template that does not end", JavaScript, "a `${b", "wa s`${b"},
		{"a slash divides", JavaScript, "a\n/ b /c", "wa o/ wb o/ wc"},
		{"an arrow is an operator", Go, "a<-b", "wa o<- wb"},
		{"strings over lines", Python, "'''a\n'b''' # c\nd", "s'''a\n'b''' c# c wd"},
		{"text blocks of Java", c, "\"\"\"\n// a\"\"\" // b", "s\"\"\"\n// a\"\"\" c// b"},
		{"numbers with their suffixes", c, "1.5f 0x1.8p-2 3px 0..9 1e-3", "n1.5f n0x1.8p-2 n3px n0 o.. n9 n1e-3"},
		{"letters and signs beyond ASCII", Python, "α≤1.5", "wα o≤ n1.5"},
		{"text has no comments", Text, "a // 'b", "wa o// o' wb"},
	} {
		if got := texts(tt.src, tt.lang); got != tt.want {
			t.Errorf("%s: %q is %s, want %s", tt.reason, tt.src, got, tt.want)
		}
	}
}

// Go's own scanner is the oracle: on real source both find the same comments.
func TestCommentsAgreeWithGo(t *testing.T) {
	files, err := filepath.Glob("../../*/*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, c := range Go.Tokens(string(src)) {
			if c.Kind == Comment {
				got = append(got, c.Of(string(src)))
			}
		}
		var s goscan.Scanner
		s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, nil, goscan.ScanComments)
		for tok := token.ILLEGAL; tok != token.EOF; {
			var text string
			if _, tok, text = s.Scan(); tok == token.COMMENT {
				want = append(want, text)
			}
		}
		if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Errorf("%s: got comments %q, want %q", name, got, want)
		}
	}
}

// No program makes the scanner fail or stand still, and nothing but white space is between the tokens.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"", "a", "/", "/*", "`", "'\\", `"""`, "a /[", "\xff", "\n \n", "a//", "#'", "`${`",
		"`${/*", "`\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, program string) {
		for _, l := range []Language{JavaScript, Go, Python, Text, c} {
			at := 0
			for _, tok := range append(l.Tokens(program), Token{Begin: len(program), End: len(program)}) {
				if tok.Begin < at || tok.End < tok.Begin || tok.End > len(program) {
					t.Fatalf("%+v: %q has a token of %d to %d after %d", l, program, tok.Begin, tok.End, at)
				}
				if between := program[at:tok.Begin]; strings.TrimFunc(between, unicode.IsSpace) != "" {
					t.Fatalf("%+v: %q has %q between tokens", l, program, between)
				}
				at = tok.End
			}
		}
	})
}
