package house_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// The programs in the README, which go on from each other, and the one in the package's comment, compile.
func TestShownProgramsCompile(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	program := ""
	for _, block := range strings.Split(string(readme), "```go\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		program += block
	}
	compiles(t, "README.md", program)

	page, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var indented strings.Builder
	_, rest, _ := strings.Cut(string(page), "// A whole run")
	rest, _, _ = strings.Cut(rest, "// This package")
	for line := range strings.Lines(rest) {
		if code, ok := strings.CutPrefix(line, "//\t"); ok {
			indented.WriteString(code)
		}
	}
	compiles(t, "doc.go", indented.String()+"_ = result\n")
}

// So do the whole program of the guide, and the policy, the operator and the search in it.
func TestProgramsOfTheGuideCompile(t *testing.T) {
	guide, err := os.ReadFile("docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	own := "package shown\n\nimport (\n\t\"context\"\n\t\"math\"\n\t\"math/rand/v2\"\n"
	for _, path := range []string{"bandit", "evolve", "evolve/population"} {
		own += fmt.Sprintf("\t%q\n", module+"/"+path)
	}
	own += ")\n"
	wholes, parts := 0, 0
	for _, block := range strings.Split(string(guide), "```go\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		switch {
		case strings.HasPrefix(block, "package main\n"):
			wholes++
			builds(t, "the guide's whole program", block)
		case strings.Contains(block, "\nfunc ("):
			parts++
			own += "\n" + block
		}
	}
	if wholes != 1 || parts != 3 {
		t.Fatalf("the guide has %d whole programs and %d parts of one, want 1 and 3", wholes, parts)
	}
	builds(t, "the guide's policy, operator and search", own)
}

// compiles vets a program that leaves its imports, ctx and the handling of errors to the reader.
func compiles(t *testing.T, where, program string) {
	t.Helper()
	if !strings.Contains(program, "evolve.Evolve(ctx, ") {
		t.Fatalf("%s: no program is found: %q", where, program)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "package shown\n\nimport (\n\t\"context\"\n\t\"fmt\"\n")
	for _, path := range []string{"bandit", "eval/js", "evolve", "evolve/breadth", "evolve/journal", "evolve/report", "llm",
		"llm/offline", "llm/openai", "task/geometry"} {
		if strings.Contains(program, path[strings.LastIndex(path, "/")+1:]+".") {
			fmt.Fprintf(&b, "\t%q\n", module+"/"+path)
		}
	}
	fmt.Fprintf(&b, ")\n\nfunc run(ctx context.Context) {\n%s\n_, _ = err, fmt.Sprint\n}\n", program)
	builds(t, where, b.String())
}

// builds wants the text of a file to be a package by itself.
func builds(t *testing.T, where, text string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "shown.go", text, parser.SkipObjectResolution)
	if err == nil {
		_, err = typed(fset, module+"/internal/shown", []*ast.File{file})
	}
	if err != nil {
		t.Errorf("%s: %v", where, err)
	}
}
