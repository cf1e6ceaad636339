package gofunc

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// Imports returns the packages that a candidate may import by default: none of them gives access to foreign memory, to
// the system, or to a clock.
func Imports() []string {
	return []string{"bytes", "cmp", "container/heap", "container/list", "container/ring", "encoding/binary", "errors",
		"iter",
		"maps", "math", "math/big", "math/bits", "math/cmplx", "math/rand/v2", "slices", "sort", "strconv", "strings",
		"unicode", "unicode/utf16", "unicode/utf8"}
}

// check returns why a program is refused before it is compiled: it does not parse, is of another package, imports a
// forbidden package, has a compiler directive other than //go:noinline, declares a function without a body, or
// redeclares a predeclared name, such as len, in the package.
func check(program, pkg string, imports []string) error {
	file, err := parser.ParseFile(token.NewFileSet(), "", program, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("does not parse: %w", err)
	}
	if file.Name.Name != pkg {
		return fmt.Errorf("is package %s: want %s", file.Name.Name, pkg)
	}
	for _, i := range file.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil || !slices.Contains(imports, path) {
			return fmt.Errorf("imports %s, which it may not: allowed are %s", i.Path.Value, strings.Join(imports, ", "))
		}
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if directive(c.Text) {
				return fmt.Errorf("has the directive %.60q: want none but //go:noinline", c.Text)
			}
		}
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body == nil {
			return fmt.Errorf("declares %s without a body", f.Name.Name)
		}
		for _, name := range declared(d) {
			if types.Universe.Lookup(name.Name) != nil {
				return fmt.Errorf("declares %s for the whole package: want another name than one that the language predeclares",
					name.Name)
			}
		}
	}
	return nil
}

// declared returns the names that a declaration adds to the package.
func declared(d ast.Decl) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ImportSpec:
				if s.Name != nil {
					names = append(names, s.Name)
				}
			case *ast.TypeSpec:
				names = append(names, s.Name)
			case *ast.ValueSpec:
				names = append(names, s.Names...)
			}
		}
	}
	return names
}

// directive reports whether a comment is a directive for the compiler or the go command.
func directive(comment string) bool {
	for _, prefix := range []string{"//go:", "//line ", "/*line ", "//export ", "//extern ", "//cgo_"} {
		if strings.HasPrefix(comment, prefix) {
			return strings.TrimSpace(comment) != "//go:noinline"
		}
	}
	constraint, ok := strings.CutPrefix(comment, "//")
	return ok && strings.HasPrefix(strings.TrimSpace(constraint), "+build")
}
