package house_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// around are the expressions that reach a terminal or a log uncleaned all the same, by package, and why they may.
var around = map[string]map[string]string{
	"evolve":                 {"j.Path()": "the user's own name of the journal"},
	"evolve/internal/record": {"j.path": "the user's own name of the journal"},
	"task/folder":            {"dir": "the user's own name of the folder"},
	"internal/sandbox": {
		"args":                             "names of mechanisms, known before there is a candidate",
		`append(args, "missing", missing)`: "and what the kernel says",
	},
	"internal/notrun": {"line": "what a test says of the machine"},
	"eval/command":    {"why": "what the kernel says of a mount, before there is a candidate"},
	"internal/killtest": {
		"os.Stderr": "of a child that is this test", "err": "of a test's own run",
	},
	"examples/resume": {"os.Stdout": "of a child that is this program", "os.Stderr": "of a child that is this program"},
	"internal/runtest": {"os.Stdout": "replaced in tests, so that they see it",
		"os.Stderr": "replaced in tests, so that they see it"},
	"examples/internal/cli": {
		"os.Stdout": "in terminal.go, which cleans, and for the bar, which draws with escape sequences",
		"os.Stderr": "in terminal.go, which cleans",
	},
}

// Everything that a program prints or logs, and that is text which it did not make itself, passes the one
// function that cleans.
func TestNothingReachesATerminalUncleaned(t *testing.T) {
	used := map[string]bool{}
	for _, p := range own(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		for _, f := range uncleaned(t, p) {
			if why := around[name][f.expr]; why == "" {
				t.Errorf("%s: %s is printed or logged as it is: clean it with eval.Printable or internal/printable, or print to cli.Stdout", f.at, f.expr)
			}
			used[name+" "+f.expr] = true
		}
	}
	for name, exprs := range around {
		for expr := range exprs {
			if !used[name+" "+expr] {
				t.Errorf("%s: %s is allowed but is not there", name, expr)
			}
		}
	}
}

// The test above sees each way around.
func TestWaysAroundAreSeen(t *testing.T) {
	for _, tt := range []struct{ call, want string }{
		{`fmt.Println("a", 1, 2.5, true, time.Second)`, ""},
		{`fmt.Printf("%s", eval.Printable(s))`, ""},
		{`fmt.Fprintln(os.Stderr, s)`, "s os.Stderr"},
		{`io.WriteString(os.Stdout, s)`, "s os.Stdout"},
		{`fmt.Println(s)`, "s"},
		{`fmt.Print(fmt.Sprintf("%v", err))`, "err"},
		{`fmt.Printf("%d", n)`, ""},
		{`log.Fatal(err)`, "err"},
		{`log.Default().Print(err.Error())`, "err.Error()"},
		{`slog.Warn("a", "b", s)`, "s"},
		{`slog.Warn(s)`, "s"},
		{`slog.Default().Info("a", "b", n, "c", err)`, "err"},
		{`slog.Warn("a", slog.String("b", s))`, "s"},
		{`w := os.Stdout; fmt.Fprint(w, s)`, "os.Stdout"},
		{`println(s)`, "s"},
		{`func() { fmt.Println(strings.ToUpper(s)) }()`, "strings.ToUpper(s)"},
		{`fmt.Println([]byte(s), r)`, "[]byte(s) r"},
	} {
		dir := t.TempDir()
		source := fmt.Sprintf("package p\n\nimport (\n\t\"fmt\"\n\t\"io\"\n\t\"log\"\n\t\"log/slog\"\n\t\"os\"\n\t\"strings\"\n\t\"time\"\n\n\t\"%s/eval\"\n)\n\n"+
			"var _, _, _, _, _ = fmt.Sprint, io.EOF, log.New, slog.New, os.Args\nvar _, _, _ = strings.Cut, time.Now, eval.Printable\n\n"+
			"func f(s string, n int, err error, r eval.Result) {\n\t%s\n}\n", module, tt.call)
		if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range uncleaned(t, listing{ImportPath: "p", Dir: dir, GoFiles: []string{"p.go"}}) {
			got = append(got, f.expr)
		}
		slices.Sort(got)
		want := strings.Fields(tt.want)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", tt.call, got, want)
		}
	}
}

// A listing is what go list says of a package.
type listing struct {
	ImportPath, Dir, Export            string
	Standard                           bool
	GoFiles                            []string
	Imports, TestImports, XTestImports []string
	Module                             *struct{ Main bool }
}

// packages returns all packages that this module's need, themselves included, with their types.
var packages = sync.OnceValues(func() (all []listing, err error) {
	cmd := exec.Command("go", "list", "-export", "-deps",
		"-json=ImportPath,Dir,Export,Standard,GoFiles,Imports,TestImports,XTestImports,Module", "./...")
	var says strings.Builder
	cmd.Stderr = &says
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, says.String())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listing
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
})

// exports returns where the types of each package are, by its path.
var exports = sync.OnceValues(func() (map[string]string, error) {
	all, err := packages()
	files := map[string]string{}
	for _, p := range all {
		files[p.ImportPath] = p.Export
	}
	return files, err
})

// imported returns what reads the types of each package once.
var imported = sync.OnceValues(func() (types.Importer, error) {
	from, err := exports()
	read := func(path string) (io.ReadCloser, error) { return os.Open(from[path]) }
	return importer.ForCompiler(token.NewFileSet(), "gc", read), err
})

// own returns the packages of this module.
func own(t *testing.T) []listing {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(p listing) bool { return p.Module == nil || !p.Module.Main })
	if len(all) < 20 {
		t.Fatalf("only %d packages are listed", len(all))
	}
	return all
}

// A finding is an expression that is printed as it is.
type finding struct {
	at   token.Position
	expr string
}

// uncleaned returns the expressions in p that are printed or logged, can hold text of others, and are not
// cleaned.
func uncleaned(t *testing.T, p listing) []finding {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	types, err := typed(fset, p.ImportPath, files)
	if err != nil {
		t.Fatal(err)
	}
	s := &search{fset: fset, info: types}
	for _, f := range files {
		ast.Inspect(f, s.visit)
	}
	return s.found
}

// typed returns the types in files.
func typed(fset *token.FileSet, path string, files []*ast.File) (*types.Info, error) {
	imports, err := imported()
	if err != nil {
		return nil, err
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: imports}
	_, err = conf.Check(path, fset, files, info)
	return info, err
}

// A search looks for what is printed in one package.
type search struct {
	fset  *token.FileSet
	info  *types.Info
	found []finding
}

func (s *search) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		for _, arg := range s.printed(n) {
			s.check(arg)
		}
	case *ast.SelectorExpr:
		if s.standard(n) {
			s.add(n)
		}
	}
	return true
}

func (s *search) add(e ast.Expr) {
	s.found = append(s.found, finding{s.fset.Position(e.Pos()), types.ExprString(e)})
}

// standard reports whether e is standard output or standard error.
func (s *search) standard(e ast.Expr) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v, ok := s.info.Uses[sel.Sel].(*types.Var)
	return ok && v.Pkg() != nil && v.Pkg().Path() == "os" && (v.Name() == "Stdout" || v.Name() == "Stderr")
}

// callee returns the package and the name of what call calls; for a built-in function the package is "".
func (s *search) callee(call *ast.CallExpr) (pkg, name string) {
	var id *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return "", ""
	}
	switch o := s.info.Uses[id].(type) {
	case *types.Builtin:
		return "", o.Name()
	case *types.Func:
		if o.Pkg() != nil {
			return o.Pkg().Path(), o.Name()
		}
	}
	return "?", id.Name
}

// printed returns the arguments that call prints or logs.
func (s *search) printed(call *ast.CallExpr) []ast.Expr {
	pkg, name := s.callee(call)
	begins := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(name, n) })
	}
	switch {
	case pkg == "" && begins("print"),
		pkg == "fmt" && begins("Print"),
		pkg == "log" && begins("Print", "Fatal", "Panic", "Output"),
		pkg == "log/slog" && begins("Debug", "Info", "Warn", "Error", "Log", "With"):
		return call.Args
	case (pkg == "fmt" && begins("Fprint") || pkg == "io" && name == "WriteString") && s.standard(call.Args[0]):
		return call.Args[1:]
	}
	return nil
}

// check adds e unless it is clean: a constant, a number, what a function that cleans returns, or made of these.
func (s *search) check(e ast.Expr) {
	e = ast.Unparen(e)
	if tv := s.info.Types[e]; tv.Value != nil || plainType(tv.Type) {
		return
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		s.check(e.X)
		s.check(e.Y)
		return
	case *ast.CallExpr:
		switch pkg, name := s.callee(e); {
		case pkg == module+"/internal/printable", pkg == module+"/eval" && name == "Printable":
			return
		case pkg == "fmt" && strings.HasPrefix(name, "Sprint"), pkg == "log/slog":
			for _, arg := range e.Args {
				s.check(arg)
			}
			return
		}
	}
	s.add(e)
}

// plainType reports whether values of type t hold no text.
func plainType(t types.Type) bool {
	if t.String() == "context.Context" {
		return true
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsNumeric|types.IsBoolean) != 0
}
