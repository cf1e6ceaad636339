package evoalloc_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/evoalloc/evoalloc"

// core are the packages that every user compiles, and what each may import besides the standard
// library. Adapters (llm/openai, eval/js, ...) are leaves: a user who does not want one does not
// compile it.
var core = map[string][]string{
	"llm":    {"golang.org/x/sync", "/internal/"},
	"eval":   {"golang.org/x/sync", "/internal/"},
	"task":   {"golang.org/x/sync", "/internal/", "/llm", "/eval"},
	"bandit": {"gonum.org/v1/gonum", "/internal/"},
	"flops":  {"golang.org/x/sync", "/internal/", "/llm"},
	"evolve": {"golang.org/x/sync", "gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/task", "/bandit", "/flops"},
}

func TestCoreStaysLight(t *testing.T) {
	for pkg, allowed := range core {
		for _, dep := range deps(t, "./"+pkg) {
			if dep != module+"/"+pkg && !slices.ContainsFunc(allowed, func(a string) bool { return within(dep, a) }) {
				t.Errorf("%s has come to import %s", pkg, dep)
			}
		}
	}
}

// The test above would see an adapter's weight if there was one.
func TestAdaptersAreSeen(t *testing.T) {
	for pkg, heavy := range map[string]string{
		"llm/openai": "github.com/openai/openai-go/v3",
		"eval/js":    "modernc.org/libquickjs",
	} {
		if !slices.Contains(deps(t, "./"+pkg), heavy) {
			t.Errorf("%s is not seen to import %s", pkg, heavy)
		}
	}
}

// within reports whether dep is the allowed package or module; a leading slash means this module, an
// ending one all below.
func within(dep, allowed string) bool {
	if strings.HasPrefix(allowed, "/") {
		allowed = module + allowed
		return dep == allowed || strings.HasSuffix(allowed, "/") && strings.HasPrefix(dep, allowed)
	}
	return dep == allowed || strings.HasPrefix(dep, allowed+"/")
}

// deps returns all that pkg compiles, itself included, but the standard library.
func deps(t *testing.T, pkg string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", pkg)
	var says strings.Builder // of what it downloads, too, which is no package
	cmd.Stderr = &says
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, says.String())
	}
	return strings.Fields(string(out))
}
