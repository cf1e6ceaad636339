package allocation

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The core only decides: it has no clock, no file, no lock, and starts no goroutine, so that the same commands
// give the same decisions.
func TestTheCoreOnlyDecides(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		seen++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, f.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range file.Imports {
			path, err := strconv.Unquote(imported.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !allowed[path] {
				t.Errorf("%v: imports %s", fset.Position(imported.Pos()), path)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				t.Errorf("%v: starts a goroutine or talks to one", fset.Position(n.Pos()))
			}
			return true
		})
	}
	if seen == 0 {
		t.Error("no file was read: the test sees nothing")
	}
}

// allowed are the packages that a core may import. A policy has its randomness from the player.
var allowed = map[string]bool{
	"fmt": true, "math": true, "cmp": true, "slices": true, "maps": true, "errors": true, "strings": true,
	"github.com/evoalloc/evoalloc/bandit":       true,
	"github.com/evoalloc/evoalloc/evolve/books": true,
}
