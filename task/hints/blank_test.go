package hints

import (
	"go/scanner"
	"go/token"
	"strings"
	"testing"
)

// blank removes every comment, and everything else stays where it was.
func FuzzBlank(f *testing.F) {
	f.Add("package p // a\r\n/* b\r\n*/ var s = \"// c\" + `/* d */`")
	f.Add("//go:embed x\n/*")
	f.Add("a /*\r*/ b //\r")
	f.Fuzz(func(t *testing.T, program string) {
		out := blank(program)
		if len(out) != len(program) || strings.Count(out, "\n") != strings.Count(program, "\n") {
			t.Fatalf("%q became %q", program, out)
		}
		fset := token.NewFileSet()
		var s scanner.Scanner
		s.Init(fset.AddFile("", -1, len(out)), []byte(out), func(token.Position, string) {}, scanner.ScanComments)
		for {
			_, tok, text := s.Scan()
			if tok == token.EOF {
				return
			}
			if tok == token.COMMENT {
				t.Fatalf("%q has the comment %q left: %q", program, text, out)
			}
		}
	})
}
