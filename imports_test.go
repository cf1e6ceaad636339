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
// compile it. eval imports llm for llm.Trace, which is told of evaluations that wait as of calls that do:
// two of them would be two context keys for one thing.
var core = map[string][]string{
	"llm":               {"golang.org/x/sync", "/internal/"},
	"eval":              {"golang.org/x/sync", "/internal/", "/llm"},
	"task":              {"golang.org/x/sync", "/internal/", "/llm", "/eval"},
	"task/text":         {"golang.org/x/sync", "/internal/", "/llm", "/eval", "/task"},
	"bandit":            {"gonum.org/v1/gonum", "/internal/", "/bandit/internal/"},
	"flops":             {"golang.org/x/sync", "/internal/", "/llm"},
	"evolve":            {"golang.org/x/sync", "gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/task", "/bandit", "/bandit/internal/", "/flops", "/evolve/internal/", "/evolve/journal"},
	"evolve/analysis":   {"gonum.org/v1/gonum", "/internal/"},
	"evolve/audit":      {"golang.org/x/sync", "gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/task", "/bandit", "/bandit/internal/", "/flops", "/evolve", "/evolve/internal/", "/evolve/journal"},
	"evolve/lineage":    {"golang.org/x/sync", "/internal/", "/llm", "/eval", "/evolve/journal"},
	"evolve/layers":     {"golang.org/x/sync", "gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/task", "/bandit", "/bandit/internal/", "/flops", "/evolve", "/evolve/"},
	"evolve/population": {"golang.org/x/sync", "gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/task", "/bandit", "/bandit/internal/", "/flops", "/evolve", "/evolve/"},
	"evolve/report":     {"golang.org/x/sync", "gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/task", "/bandit", "/bandit/internal/", "/flops", "/evolve", "/evolve/"},
	"evolve/population/tune": {"golang.org/x/sync", "golang.org/x/tools/container/intsets", "gonum.org/v1/gonum",
		"/internal/", "/llm", "/eval", "/task", "/bandit", "/bandit/internal/", "/flops", "/evolve", "/evolve/"},
	"evolve/view": {"golang.org/x/sync", "gonum.org/v1/gonum", "github.com/alecthomas/chroma/v2", "github.com/dlclark/regexp2/v2", "github.com/aymanbagabas/go-udiff",
		"/internal/", "/llm", "/eval", "/task", "/bandit", "/bandit/internal/", "/flops", "/evolve", "/evolve/"},
	"evolve/sweep": {"golang.org/x/sync", "gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/task", "/bandit", "/bandit/internal/", "/flops", "/evolve", "/evolve/"},
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
		"llm/openai":           "github.com/openai/openai-go/v3",
		"eval/js":              "modernc.org/libquickjs",
		"evolve/analysis/plot": "gonum.org/v1/plot",
		"evolve/view":          "github.com/alecthomas/chroma/v2",
	} {
		if !slices.Contains(deps(t, "./"+pkg), heavy) {
			t.Errorf("%s is not seen to import %s", pkg, heavy)
		}
	}
}

// testOnly are the packages that are for tests, each with one whose tests import it. What is not a test may not
// import them, or a user would compile checks, fixtures and what drives a browser into a program.
var testOnly = map[string]string{
	module + "/bandit/bandittest":    module + "/bandit",
	module + "/internal/browsertest": module + "/evolve/view",
}

func TestNoProductionCodeImportsTestHelpers(t *testing.T) {
	for pkg := range testOnly {
		for _, importer := range importers(t, "Imports", pkg) {
			t.Errorf("%s imports %s outside its tests", importer, pkg)
		}
	}
}

// The test above would see an import if there was one: tests have it.
func TestTestHelpersAreSeen(t *testing.T) {
	for pkg, user := range testOnly {
		if !slices.Contains(append(importers(t, "XTestImports", pkg), importers(t, "TestImports", pkg)...), user) {
			t.Errorf("the tests of %s are not seen to import %s", user, pkg)
		}
	}
}

// A browser is driven from one place.
func TestOnlyBrowsertestDrivesABrowser(t *testing.T) {
	const leaf, driver = module + "/internal/browsertest", "github.com/chromedp/chromedp"
	if got := importers(t, "Imports", driver); !slices.Equal(got, []string{leaf}) {
		t.Errorf("%s is imported by %v, want by %s alone", driver, got, leaf)
	}
	for _, kind := range []string{"TestImports", "XTestImports"} {
		if got := importers(t, kind, driver); len(got) > 0 {
			t.Errorf("tests of %v import %s, want it behind %s", got, driver, leaf)
		}
	}
}

// Drawing brings a dozen modules for fonts and formats, so but for one package only programs compile it.
func TestOnlyProgramsImportPlotting(t *testing.T) {
	const leaf = module + "/evolve/analysis/plot"
	if drawn := importers(t, "Imports", "gonum.org/v1/plot"); !slices.Equal(drawn, []string{leaf}) {
		t.Errorf("gonum.org/v1/plot is imported by %v, want by %s alone", drawn, leaf)
	}
	programs := importers(t, "Imports", leaf)
	if len(programs) == 0 {
		t.Errorf("nothing is seen to import %s, and examples/policies does", leaf)
	}
	for _, importer := range programs {
		if !strings.HasPrefix(importer, module+"/examples/") {
			t.Errorf("%s imports %s, which is for programs", importer, leaf)
		}
	}
}

// Who evaluates on one machine does not compile a message broker: only the adapter and programs import NATS, and its
// server is behind one package.
func TestOnlyTheAdapterImportsNATS(t *testing.T) {
	const adapter, broker = module + "/eval/nats", module + "/eval/nats/embedded"
	for pkg, want := range map[string]string{
		"github.com/nats-io/nats.go": adapter, "github.com/nats-io/nats.go/jetstream": adapter,
		"github.com/nats-io/nats-server/v2/server": broker,
	} {
		if got := importers(t, "Imports", pkg); !slices.Equal(got, []string{want}) {
			t.Errorf("%s is imported by %v, want by %s alone", pkg, got, want)
		}
	}
	for _, pkg := range []string{adapter, broker} {
		for _, importer := range importers(t, "Imports", pkg) {
			if !strings.HasPrefix(importer, module+"/examples/") {
				t.Errorf("%s imports %s, which is for programs", importer, pkg)
			}
		}
	}
}

// importers returns the packages of this module that have pkg among their imports of a kind: the field of
// go list's output that has them.
func importers(t *testing.T, kind, pkg string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}}{{range ."+kind+"}} {{.}}{{end}}", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); slices.Contains(words[1:], pkg) {
			found = append(found, words[0])
		}
	}
	return found
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
