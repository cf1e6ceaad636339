package evoalloc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program in the README, and the one in the package's comment, compile.
func TestShownProgramsCompile(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(readme), "```go\n")
	program, _, _ = strings.Cut(program, "```")
	compiles(t, "README.md", program, "openai", "llm", "journal", "report")

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
	compiles(t, "doc.go", indented.String()+"_ = result\n", "offline")
}

// compiles vets a program that leaves its imports, ctx and the handling of errors to the reader.
func compiles(t *testing.T, where, program string, imports ...string) {
	t.Helper()
	if !strings.Contains(program, "evolve.Run(ctx, evolve.Config{") {
		t.Fatalf("%s: no program is found: %q", where, program)
	}
	paths := map[string]string{
		"fmt": "fmt", "js": module + "/eval/js", "geometry": module + "/task/geometry", "evolve": module + "/evolve", "bandit": module + "/bandit",
		"openai": module + "/llm/openai", "llm": module + "/llm", "offline": module + "/llm/offline",
		"journal": module + "/evolve/journal", "report": module + "/evolve/report",
	}
	var b strings.Builder
	fmt.Fprintf(&b, "package shown\n\nimport \"context\"\n")
	for _, name := range append(imports, "fmt", "js", "geometry", "evolve", "bandit") {
		fmt.Fprintf(&b, "import %q\n", paths[name])
	}
	fmt.Fprintf(&b, "\nfunc run(ctx context.Context) {\n%s\n_, _ = err, fmt.Sprint\n}\n", program)

	dir := t.TempDir()
	source := filepath.Join(dir, "shown.go")
	here, err := filepath.Abs("internal/shown/shown.go") // which is not there but for this
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {here: source}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{source: b.String(), filepath.Join(dir, "overlay.json"): string(overlay)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "./internal/shown").CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", where, err, out)
	}
}
