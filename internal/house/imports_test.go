package house_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/evoalloc/evoalloc"

// floors is the house from the ground up. A package imports packages of this module from lower floors alone, but for
// those on the ground, which may share. An asterisk stands for the packages below a folder that no other line names.
var floors = [][]string{
	{"internal/*", "eval/isolation", "bandit/internal/*"}, // what several packages share
	{"llm", "bandit"}, // a policy knows of arms and nothing of programs
	{"eval", "flops", "llm/*", "bandit/*"},
	{"task", "eval/*", "evolve/books"}, // what runs tell in
	{"task/*", "evolve/internal/*"},
	{"internal/killtest", "internal/runtest", "task/folder"},
	{"evolve/journal", "evolve/internal/step"}, // the durable file; what a step asks
	{"evolve/history"},                         // what happened in a run
	{"evolve/result"},                          // its file
	{"evolve"},
	{"evolve/population", "evolve/breadth"}, // searches, and what they are made of
	{"evolve/population/*", "evolve/presets", "evolve/agent"},
	{"evolve/report", "evolve/analysis", "evolve/replay"}, // readings of a run
	{"evolve/view", "evolve/analysis/*", "evolve/sweep"},
	{"examples", "examples/*"}, // programs, which have an order of their own
}

func TestNothingImportsUpward(t *testing.T) {
	for path, p := range house(t) {
		floor := floorOf(path)
		if floor < 0 {
			t.Errorf("%s stands on no floor: give it one in the table of this file", path)
			continue
		}
		for _, dep := range ours(p.Imports) {
			switch above := floorOf(dep); {
			case floor == len(floors)-1, floor == 0 && above == 0:
			case above >= floor:
				t.Errorf("%s, on floor %d, imports %s, on floor %d", path, floor, dep, above)
			}
		}
	}
}

// Tests run a package with real ones from above. They stay out of the programs all the same, and those of policies out
// of all that is not about policies.
func TestTestsImportNoPrograms(t *testing.T) {
	for path, p := range house(t) {
		for _, dep := range ours(slices.Concat(p.TestImports, p.XTestImports)) {
			library, policies := !within(path, "examples"), within(path, "bandit")
			if library && within(dep, "examples") || policies && !within(dep, "bandit") && !within(dep, "internal") {
				t.Errorf("tests of %s import %s", path, dep)
			}
		}
	}
}

// The tests above would see an arrow that runs up: the floors tell packages apart, each line has one, and imports are
// seen at all.
func TestFloorsAreTold(t *testing.T) {
	for lower, upper := range map[string]string{
		"bandit/sim": "evolve", "llm": "eval", "evolve": "evolve/population", "evolve/report": "evolve/view",
		"task/folder": "evolve", "evolve/sweep": "examples/bandit",
	} {
		if floorOf(lower) >= floorOf(upper) {
			t.Errorf("%s is on floor %d and %s on %d", lower, floorOf(lower), upper, floorOf(upper))
		}
	}
	if got := floorOf("cache"); got >= 0 {
		t.Errorf("a package that the table does not have is on floor %d", got)
	}
	if evolve := house(t)["evolve"]; !slices.Contains(ours(evolve.Imports), "bandit") ||
		!slices.Contains(ours(evolve.XTestImports), "bandit") {
		t.Error("evolve and its tests are not seen to import bandit")
	}
	for i, floor := range floors {
		for _, line := range floor {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(house(t))), func(path string) bool { return matches(path, line) }) {
				t.Errorf("no package stands on floor %d as %s", i, line)
			}
		}
	}
}

// core are the packages that every user compiles, and what each may import besides the standard
// library. Adapters (llm/openai, eval/js, ...) are leaves: a user who does not want one does not
// compile it. eval imports llm for llm.Trace, which is told of evaluations that wait as of calls that do:
// two of them would be two context keys for one thing.
var core = map[string][]string{
	"llm":         {"golang.org/x/sync", "/internal/"},
	"llm/gateway": {"golang.org/x/sync", "/internal/", "/llm"},
	"eval":        {"golang.org/x/sync", "/internal/", "/llm"},
	"task":        {"golang.org/x/sync", "/internal/", "/llm", "/eval"},
	"task/text":   {"golang.org/x/sync", "/internal/", "/llm", "/eval", "/task"},
	"bandit":      {"gonum.org/v1/gonum", "/internal/", "/bandit/internal/"},
	"bandit/sim":  {"gonum.org/v1/gonum", "/internal/", "/bandit", "/bandit/internal/"},
	"llm/openai": {"/internal/", "/llm", "github.com/openai/openai-go", "github.com/tidwall",
		"github.com/coder/websocket"},
	"flops": {"golang.org/x/sync", "/internal/", "/llm"},
	"evolve": {"golang.org/x/sync", "gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/task", "/bandit",
		"/bandit/internal/", "/flops", "/evolve/internal/", "/evolve/books", "/evolve/journal", "/evolve/history"},
	"evolve/history": {"golang.org/x/sync", "golang.org/x/tools/txtar", "/internal/", "/llm", "/eval", "/flops", "/evolve/internal/",
		"/evolve/books", "/evolve/journal"},
	"evolve/analysis": {"github.com/go-json-experiment/json", "golang.org/x/sync", "golang.org/x/tools/txtar",
		"gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/flops", "/evolve/internal/", "/evolve/books",
		"/evolve/journal", "/evolve/history", "/evolve/result"},
	"evolve/breadth": {"golang.org/x/sync", "gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/task", "/bandit",
		"/bandit/internal/", "/flops", "/evolve", "/evolve/internal/", "/evolve/books", "/evolve/journal"},
	"evolve/result": {"github.com/go-json-experiment/json", "golang.org/x/sync", "golang.org/x/tools/txtar", "/internal/",
		"/llm", "/eval", "/flops", "/evolve/internal/", "/evolve/books", "/evolve/journal", "/evolve/history"},
	"evolve/population": {"golang.org/x/sync", "golang.org/x/tools/txtar", "gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/task", "/bandit",
		"/bandit/internal/", "/flops", "/evolve", "/evolve/"},
	"evolve/report": {"github.com/go-json-experiment/json", "golang.org/x/sync", "golang.org/x/tools/txtar", "gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/task", "/bandit",
		"/bandit/internal/", "/flops", "/evolve", "/evolve/"},
	"evolve/population/tune": {"golang.org/x/sync", "golang.org/x/tools/txtar", "gonum.org/v1/gonum",
		"/internal/", "/llm", "/eval", "/task", "/bandit", "/bandit/internal/", "/flops", "/evolve", "/evolve/"},
	"evolve/view": {"golang.org/x/sync", "golang.org/x/sys", "golang.org/x/tools", "gonum.org/v1/gonum",
		"github.com/alecthomas/chroma/v2", "github.com/go-json-experiment/json", "github.com/dlclark/regexp2/v2", "github.com/aymanbagabas/go-udiff",
		"/internal/", "/llm", "/eval", "/task", "/bandit", "/bandit/internal/", "/flops", "/evolve", "/evolve/"},
	"evolve/sweep": {"github.com/go-json-experiment/json", "golang.org/x/sync", "golang.org/x/tools/txtar", "gonum.org/v1/gonum", "/internal/", "/llm", "/eval", "/task", "/bandit",
		"/bandit/internal/", "/flops", "/evolve", "/evolve/"},
}

func TestCoreStaysLight(t *testing.T) {
	for pkg, allowed := range core {
		allowed := append(slices.Clip(allowed), "github.com/go-json-experiment/json") // by which journals are read in time
		for _, dep := range deps(t, pkg) {
			if dep != module+"/"+pkg && !slices.ContainsFunc(allowed, func(a string) bool { return within(dep, a) }) {
				t.Errorf("%s has come to import %s", pkg, dep)
			}
		}
	}
}

// The test above would see an adapter's weight if there was one.
func TestAdaptersAreSeen(t *testing.T) {
	for pkg, heavy := range map[string]string{
		"eval/js":              "modernc.org/libquickjs",
		"evolve/analysis/plot": "gonum.org/v1/plot",
		"evolve/view":          "github.com/alecthomas/chroma/v2",
	} {
		if !slices.Contains(deps(t, pkg), heavy) {
			t.Errorf("%s is not seen to import %s", pkg, heavy)
		}
	}
}

// A task of one's own takes what runs its programs, and none of what a study, a page, a pool of workers or an endpoint
// needs.
func TestASmallProgramIsLight(t *testing.T) {
	light := deps(t, "examples/newtask")
	if !slices.Contains(light, module+"/evolve") || !slices.Contains(light, module+"/eval/js") {
		t.Error("examples/newtask is not seen to import evolve and eval/js")
	}
	for _, dep := range light {
		for _, heavy := range []string{"github.com/nats-io", "github.com/chromedp", "gonum.org/v1/plot", "/llm/openai",
			"github.com/alecthomas/chroma", "/eval/python", "/evolve/view", "/evolve/analysis"} {
			if within(dep, heavy) || strings.HasPrefix(dep, heavy+"/") {
				t.Errorf("examples/newtask has come to import %s", dep)
			}
		}
	}
}

// OpenAI's client takes a minute to compile, which programs without an endpoint do not pay.
func TestOnlyEndpointsTakeOpenAIsClient(t *testing.T) {
	const sdk = "github.com/openai/openai-go/v3"
	if !slices.Contains(deps(t, "llm/openai"), sdk) || slices.Contains(deps(t, "examples/bandit"), sdk) {
		t.Error("llm/openai does not import OpenAI's client, or examples/bandit does")
	}
	for path, p := range house(t) {
		if path != "llm/openai" && slices.ContainsFunc(p.Imports, func(dep string) bool { return within(dep, sdk) }) {
			t.Errorf("%s imports OpenAI's client", path)
		}
	}
}

// testOnly are the packages that are for tests, each with one whose tests import it. What is not a test may not
// import them, or a user would compile checks, fixtures and what drives a browser into a program.
var testOnly = map[string]string{
	module + "/bandit/bandittest":    module + "/bandit",
	module + "/internal/browsertest": module + "/evolve/view",
	module + "/internal/killtest":    module + "/evolve",
	module + "/internal/runtest":     module + "/evolve",
	module + "/internal/sandboxtest": module + "/eval/python",
}

func TestNoProductionCodeImportsTestHelpers(t *testing.T) {
	for pkg := range testOnly {
		for _, importer := range importers(t, imports, pkg) {
			t.Errorf("%s imports %s outside its tests", importer, pkg)
		}
	}
}

// The test above would see an import if there was one: tests have it.
func TestTestHelpersAreSeen(t *testing.T) {
	for pkg, user := range testOnly {
		if !slices.Contains(importers(t, testImports, pkg), user) {
			t.Errorf("the tests of %s are not seen to import %s", user, pkg)
		}
	}
}

// A browser is driven from one place.
func TestOnlyBrowsertestDrivesABrowser(t *testing.T) {
	const leaf, driver = module + "/internal/browsertest", "github.com/chromedp/chromedp"
	if got := importers(t, imports, driver); !slices.Equal(got, []string{leaf}) {
		t.Errorf("%s is imported by %v, want by %s alone", driver, got, leaf)
	}
	if got := importers(t, testImports, driver); len(got) > 0 {
		t.Errorf("tests of %v import %s, want it behind %s", got, driver, leaf)
	}
}

// Drawing brings a dozen modules for fonts and formats, so but for one package only programs compile it.
func TestOnlyProgramsImportPlotting(t *testing.T) {
	const leaf = module + "/evolve/analysis/plot"
	if drawn := importers(t, imports, "gonum.org/v1/plot"); !slices.Equal(drawn, []string{leaf}) {
		t.Errorf("gonum.org/v1/plot is imported by %v, want by %s alone", drawn, leaf)
	}
	programs := importers(t, imports, leaf)
	if len(programs) == 0 {
		t.Errorf("nothing is seen to import %s, and examples/internal/policies does", leaf)
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
		if got := importers(t, imports, pkg); !slices.Equal(got, []string{want}) {
			t.Errorf("%s is imported by %v, want by %s alone", pkg, got, want)
		}
	}
	for _, pkg := range []string{adapter, broker} {
		for _, importer := range importers(t, imports, pkg) {
			if !strings.HasPrefix(importer, module+"/examples/") {
				t.Errorf("%s imports %s, which is for programs", importer, pkg)
			}
		}
	}
}

// house returns this module's packages, by what follows the module's path. The root, which has documentation alone, is
// not one of them.
func house(t *testing.T) map[string]listing {
	t.Helper()
	all := map[string]listing{}
	for _, p := range own(t) {
		if path, below := strings.CutPrefix(p.ImportPath, module+"/"); below {
			all[path] = p
		}
	}
	return all
}

// ours returns the packages of this module among imports, by what follows the module's path.
func ours(imports []string) []string {
	var paths []string
	for _, dep := range imports {
		if path, ok := strings.CutPrefix(dep, module+"/"); ok {
			paths = append(paths, path)
		}
	}
	return paths
}

// floorOf returns the floor on which a package stands, from 0, or −1. The longest line that matches decides.
func floorOf(path string) int {
	found, length := -1, 0
	for i, floor := range floors {
		for _, line := range floor {
			if matches(path, line) && len(line) > length {
				found, length = i, len(line)
			}
		}
	}
	return found
}

// matches reports whether a line is a package's own, or has an asterisk for all below a folder.
func matches(path, line string) bool {
	folder, all := strings.CutSuffix(line, "*")
	return path == line || all && strings.HasPrefix(path, folder)
}

func imports(p listing) []string     { return p.Imports }
func testImports(p listing) []string { return slices.Concat(p.TestImports, p.XTestImports) }

// importers returns the packages of this module that have pkg among their imports of a kind.
func importers(t *testing.T, kind func(listing) []string, pkg string) []string {
	t.Helper()
	var found []string
	for _, p := range own(t) {
		if slices.Contains(kind(p), pkg) {
			found = append(found, p.ImportPath)
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

// deps returns all that a package of this module compiles, itself included, but the standard library.
func deps(t *testing.T, path string) []string {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]listing{}
	for _, p := range all {
		by[p.ImportPath] = p
	}
	seen := map[string]bool{}
	var visit func(string)
	visit = func(path string) {
		if p, listed := by[path]; listed && !p.Standard && !seen[path] {
			seen[path] = true
			for _, dep := range p.Imports {
				visit(dep)
			}
		}
	}
	visit(module + "/" + path)
	if len(seen) == 0 {
		t.Fatalf("%s is not listed", path)
	}
	return slices.Sorted(maps.Keys(seen))
}
