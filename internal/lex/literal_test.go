package lex

import (
	"fmt"
	goscan "go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// found returns the literals of src as text, with a letter for the role of each.
func found(src string, syn Language) string {
	var out []string
	for _, l := range syn.Literals(src) {
		out = append(out, src[l.Begin:l.End]+[]string{"", "e", "c", "i"}[l.Role])
	}
	return strings.Join(out, " ")
}

func TestLiterals(t *testing.T) {
	tests := []struct {
		syn               Language
		src, want, reason string
	}{
		{JavaScript, "let x1 = 0.5; y2z = x1", "0.5", "digits of a name are no number"},
		{JavaScript, "a = .5 + 5. + 1e3 + 2E-7 + 1_000.5", ".5 5. 1e3 2E-7 1_000.5", "every way to write a real number"},
		{JavaScript, "'1.5' + \"2.5\" + `3.5 ${4.5} 6.5` + 7.5", "7.5",
			"strings and templates, with the code in them"},
		{JavaScript, "a = 'it\\'s 1.5' + 2.5", "2.5", "an escaped quote does not end a string"},
		{JavaScript, "// 1.5\n/* 2.5\n3.5 */ 4.5", "4.5", "comments"},
		{JavaScript, "(a) / 2.5; b[1.5] / 3.5", "2.5 1.5 3.5", "a slash after a bracket divides"},
		{JavaScript, "0xff + 0b11 + 0o17 + 017 + 0.5", "0.5", "what is not decimal is left alone"},
		{JavaScript, "10n + 3px", "10nc", "a suffix that marks a type stays; 3px is no number"},
		{JavaScript, "9007199254740993", "", "beyond what a float holds exactly"},
		{JavaScript, "1e999", "", "beyond a float"},
		{JavaScript, "x = -0.5; y = a -0.5; z = a*-0.5; return -1.5", "-0.5 0.5 -0.5 -1.5",
			"a minus is a sign where no operand stands before it"},
		{JavaScript, "[[0, 1], [-2, 0.5]]", "0e 1e -2e 0.5", "integers in lists"},
		{JavaScript, "a[3] + b[i + 1] + c[0][2]", "3i 1i 0i 2i", "integers in subscripts"},
		{JavaScript, "f(8, 0.3); new Array(26); for (i = 0; i < 11; i++) { x = 2 * 8 }", "8c 0.3 26c 0c 11c 2c 8c",
			"other integers"},
		{JavaScript, "p = {r: 1, x: 0.5}; [1 + 2, 3]", "1c 0.5 1c 2c 3e", "an element is an integer alone between commas"},
		{JavaScript, "0.5.toFixed(2); 1..x; 5 .x", "0.5 2c 1c 5c", "methods of numbers"},
		{Python, "# 1.5\nx = 7 // 2 # 2.5\ny = '#' + str(3.5)", "7c 2c 3.5", "the signs of Python: // divides"},
		{Python, "'''1.5\n'2.5''' + 3.5", "3.5", "long strings"},
		{Python, "\"\"\"\n1.5 \\\"\"\"\n\"\"\"\nx = 2.5", "2.5", "an escaped quote in a long string"},
		{Python, "r'\\d1.5' f\"{x:0.3f}\" 2.5j 1_0", "2.5j 1_0c", "prefixes of strings, imaginary numbers"},
		{Python, "np.zeros((11, 2)); x = (0, 1); range(8); [(0, 3)]", "11c 2c 0e 1e 8c 0e 3e",
			"a shape is no list, a tuple is"},
		{Go, "p := [][2]float64{{0, 0.5}, {-1, 0}}; q := `1.5\\`; r := '\\''; s := 2.5", "2i 0e 0.5 -1e 0e 2.5",
			"raw strings and runes of Go"},
		{Go, "0x1.8p-2 + 1.5i", "1.5i", "a hexadecimal float is one token"},
		{c, "float x = 1.5f; unsigned n = 3u; for (i in 0..10)", "1.5f 3uc 0c 10c", "suffixes of C, ranges"},
		{JavaScript, "'1.5\n2.5 `3.5", "2.5", "a string that does not end ends with its line, a template never"},
		{JavaScript, "1.5 /* 2.5", "1.5", "a comment that does not end"},
		{JavaScript, ")]}` ${ }` 1.5", "1.5", "brackets that match nothing"},
		{JavaScript, "héllo1 = 1.5", "1.5", "names beyond ASCII"},
		{JavaScript, "", "", "nothing"},
	}
	for _, tt := range tests {
		if got := found(tt.src, tt.syn); got != tt.want {
			t.Errorf("%q: got %s, want %s: %s", tt.src, got, tt.want, tt.reason)
		}
	}
}

func TestLikely(t *testing.T) {
	tests := []struct {
		tag, program string
		want         Language
		reason       string
	}{
		{"JS", "", JavaScript, "whatever the case"},
		{"python", "", Python, "by name"},
		{"rust", "", c, "not known: like C"},
		{"", "def f(x):\n  return 1", Python, "by its looks"},
		{"text", "x = 1 // 2.5", JavaScript, "by its looks, or the default"},
	}
	for _, tt := range tests {
		if got := Likely(tt.tag, tt.program); got != tt.want {
			t.Errorf("Likely(%q, %q) = %+v, want %+v: %s", tt.tag, tt.program, got, tt.want, tt.reason)
		}
	}
}

// Go's own scanner is the oracle: on real source both find the same decimal numbers.
func TestLiteralsAgreeWithGo(t *testing.T) {
	files, err := filepath.Glob("../../*/*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	seen := 0
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := goLiterals(src)
		var got []string
		for _, l := range Go.Literals(string(src)) {
			text := strings.TrimPrefix(string(src[l.Begin:l.End]), "-")
			got = append(got, fmt.Sprint(l.End-len(text), " ", text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		seen += len(want)
	}
	if seen < 500 {
		t.Errorf("only %d numbers were compared", seen)
	}
}

// goLiterals returns the place and text of src's decimal numbers.
func goLiterals(src []byte) []string {
	var s goscan.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(src)), src, nil, 0)
	var out []string
	for {
		pos, tok, text := s.Scan()
		switch tok {
		case token.EOF:
			return out
		case token.INT, token.FLOAT, token.IMAG:
			big := tok == token.INT && len(text) > 15
			if octal := tok == token.INT && len(text) > 1 && text[0] == '0'; octal || big ||
				strings.ContainsAny(text, "xXbBoO") {
				continue
			}
			out = append(out, fmt.Sprint(fset.Position(pos).Offset, " ", text))
		}
	}
}

// checkSpans checks that literals are in order and are what they claim to be.
func checkSpans(t *testing.T, src string, ls []Literal) {
	at := 0
	for _, l := range ls {
		if l.Begin < at || l.End <= l.Begin || l.End > len(src) {
			t.Fatalf("%q: literal %d to %d after %d", src, l.Begin, l.End, at)
		}
		at = l.End
	}
}

// Whatever a program is, its numbers are found in order, and written as they are they leave it as it is.
func FuzzFind(f *testing.F) {
	for _, s := range []string{"", "x1 = [0.5, -1, 2e3] // 4", "`${1}` /[/]1/ 'a1' \"\n2", "a- -1.5;return-2;1.2.3",
		"\x00\xff1é2", "0x1p-2 1_0 # tune: 1..2"} {
		f.Add(s, uint8(0))
	}
	all := []Language{JavaScript, Python, Go, c}
	f.Fuzz(func(t *testing.T, src string, which uint8) {
		syn := all[int(which)%len(all)]
		found := syn.Literals(src)
		checkSpans(t, src, found)
		if got := Rewrite(src, found, found); got != src {
			t.Fatalf("%q becomes %q", src, got)
		}
	})
}
