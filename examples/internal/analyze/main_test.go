package analyze

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files")

// analyze runs the program on a folder and returns what it printed and where it wrote.
func analyze(t *testing.T, results string, args ...string) (printed, out string) {
	t.Helper()
	printed, out, err := try(t, results, args...)
	if err != nil {
		t.Fatal(err)
	}
	return printed, out
}

func try(t *testing.T, results string, args ...string) (printed, out string, err error) {
	t.Helper()
	out = t.TempDir()
	var b bytes.Buffer
	err = Run(t.Context(), append([]string{results, "--out", out, "--samples", "300"}, args...), &b)
	return strings.NewReplacer(out, "OUT", results, "RESULTS").Replace(b.String()), out, err
}

// testdata/results are real runs of the command greedy (circle packing with the offline model, T·N = 64, seeds 1 to 5) and
// of the command bandit (three searches, other seeds in each run), without their programs' attempts, to be small.
func TestTerminal(t *testing.T) {
	printed, out := analyze(t, "testdata/results", "--scores", "0.5")
	golden := "testdata/terminal.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(printed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if printed != string(want) {
		t.Errorf("printed\n%s\nwant as in %s (-update writes it)\n%s", printed, golden, want)
	}
	var names []string
	for _, path := range files(t, out, "") {
		names = append(names, filepath.Base(path))
	}
	if want := []string{"analysis.json", "cells.csv", "cp_offline_best_by_calls.svg", "cp_offline_best_by_flops.svg",
		"cp_offline_best_by_time.svg",
		"cp_offline_envelope_greedy.svg", "cp_offline_profiles.svg", "cp_offline_pulls_ei-K=3.svg", "cp_offline_regret.svg",
		"cp_offline_surface_greedy.svg", "runs.csv"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	for _, path := range files(t, out, ".svg") {
		wellFormed(t, path)
	}
}

// What is written has the numbers that are printed, and the same ones each time.
func TestFiles(t *testing.T) {
	_, out := analyze(t, "testdata/results", "--price", "1,0")
	_, again := analyze(t, "testdata/results", "--price", "1,0")
	for _, path := range files(t, out, "") {
		if !bytes.Equal(read(t, path), read(t, filepath.Join(again, filepath.Base(path)))) {
			t.Errorf("%s is not the same twice", filepath.Base(path))
		}
	}
	var r struct {
		Problems []struct {
			Task    string
			Methods []struct {
				Method    string
				Seeds     int
				Cells     []struct{ Searches int }
				Intervals struct {
					C struct{ Value, Low, High float64 }
				}
				Found []string
			}
		}
	}
	if err := json.Unmarshal(read(t, filepath.Join(out, "analysis.json")), &r); err != nil {
		t.Fatal(err)
	}
	greedy := r.Problems[0].Methods[1]
	if r.Problems[0].Task != "cp" || greedy.Method != "greedy" || greedy.Seeds != 5 || len(greedy.Cells) != 18 ||
		greedy.Cells[0].Searches != 5 {
		t.Errorf("analysis.json has %+v", greedy)
	}
	if c := greedy.Intervals.C; !(c.Low < c.Value && c.Value < c.High) {
		t.Errorf("the interval of c is %+v", c)
	}
	for name, rows := range map[string]int{"runs.csv": 23, "cells.csv": 18 + 5} {
		if got := table(t, filepath.Join(out, name)); len(got) != 1+rows || len(got[0]) < 12 {
			t.Errorf("%s has %d rows, want a header and %d", name, len(got), rows)
		}
	}
	if n := len(files(t, out, ".svg")); n != 8 {
		t.Errorf("%d SVG files, want one for each of 8 figures; there are no tokens in the files, so none by money", n)
	}
}

// A folder with too little says so plainly, and what can be drawn is.
func TestTooLittle(t *testing.T) {
	for _, c := range []struct {
		why     string
		keep    []string
		want    []string
		not     []string
		figures []string
	}{
		{"two seeds", []string{"cp/offline/*seed1.json", "cp/offline/*seed2.json"},
			[]string{"at least 2 seeds", "some breadth has 2 seeds, and an interval takes 3 at least"}, []string{"found:"},
			[]string{"surface_greedy", "best_by_calls", "profiles"}},
		{"one seed", []string{"cp/offline/*seed1.json"},
			[]string{"at least 1 seed of each", "some breadth has 1 seed"}, []string{"found:"},
			[]string{"surface_greedy", "best_by_calls", "profiles"}},
		{"one breadth", []string{"cp/offline/*N4_*.json"},
			[]string{"all runs have N = 4, and it takes two breadths"}, []string{"found:", "c = "},
			[]string{"surface_greedy", "best_by_calls", "profiles"}},
		{"one run", []string{"cp/offline/*N4_seed1.json"},
			[]string{"all runs have N = 4"}, []string{"found:"}, []string{"surface_greedy", "best_by_calls", "profiles"}},
		{"two runs of a bandit against two", []string{"cp/offline/*N4_seed1.json", "cp/offline/*N4_seed2.json",
			"bandit/cp/offline/*seed1.json", "bandit/cp/offline/*seed2.json"},
			[]string{"(n = 2) against greedy (n = 2): nothing can be said; it takes 3 runs of each"}, []string{"better in"},
			[]string{"pulls_ei-K=3", "regret"}},
	} {
		printed, out := analyze(t, subset(t, c.keep...))
		for _, want := range c.want {
			if !strings.Contains(printed, want) {
				t.Errorf("%s: it does not say %q:\n%s", c.why, want, printed)
			}
		}
		for _, not := range c.not {
			if strings.Contains(printed, not) {
				t.Errorf("%s: it says %q:\n%s", c.why, not, printed)
			}
		}
		for _, name := range c.figures {
			wellFormed(t, filepath.Join(out, "cp_offline_"+name+".svg"))
		}
	}
}

const one = "cp/offline/greedy_C64_T16_N4_seed1.json"

// The same run counted twice would make everything look surer than it is.
func TestOneSeedInTwoFiles(t *testing.T) {
	folder := subset(t, "cp/offline/*.json")
	write(t, filepath.Join(folder, "copy.json"), read(t, filepath.Join(folder, one)))
	refused(t, folder, "one seed")
}

// Runs that stopped early have the scores of a smaller budget. With --early the cells that they do not reach are left out.
func TestStoppedEarly(t *testing.T) {
	folder := subset(t, "cp/offline/*.json")
	path := filepath.Join(folder, one)
	var f map[string]any
	if err := json.Unmarshal(read(t, path), &f); err != nil {
		t.Fatal(err)
	}
	rows := f["trajectory"].([]any)
	f["trajectory"] = rows[:len(rows)-1] // as after Ctrl-C
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, b)
	refused(t, folder, "--early")
	if printed, _ := analyze(t, folder, "--early"); !strings.Contains(printed, "1 cell that not every seed") {
		t.Errorf("with --early:\n%s", printed)
	}
}

// What is in a folder besides results is named and left out.
func TestOtherFiles(t *testing.T) {
	folder := subset(t, "cp/offline/*.json")
	path := filepath.Join(folder, one)
	write(t, strings.TrimSuffix(path, ".json")+".partial.json", read(t, path))
	write(t, filepath.Join(folder, "package.json"), []byte(`{"name":"x"}`))
	write(t, filepath.Join(folder, "notes.txt"), []byte("x"))
	printed, _ := analyze(t, folder)
	for _, want := range []string{"seed1.partial.json: the run is not over", "package.json: "} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is not said:\n%s", want, printed)
		}
	}
	if strings.Contains(printed, "notes") {
		t.Errorf("text is taken for a result:\n%s", printed)
	}
}

// Scores of two tasks do not compare.
func TestTwoTasks(t *testing.T) {
	folder := subset(t, "cp/offline/*.json")
	b := bytes.Replace(read(t, filepath.Join(folder, one)), []byte(`"task":"cp"`), []byte(`"task":"mmd"`), 1)
	write(t, filepath.Join(folder, "other.json"), b)
	printed, out := analyze(t, folder)
	if !strings.Contains(printed, "\nmmd, offline\n\ngreedy: 1 run,") || len(files(t, out, "surface_greedy.svg")) != 2 {
		t.Errorf("they are not kept apart:\n%s", printed)
	}
}

// A search that takes ties is another method than one that keeps its parent, and a seed of one is none of the other.
func TestTiesAreAnotherMethod(t *testing.T) {
	folder := subset(t, "cp/offline/*.json")
	for _, path := range files(t, filepath.Join(folder, "cp", "offline"), ".json") {
		b := read(t, filepath.Join(folder, "cp", "offline", filepath.Base(path)))
		write(t, filepath.Join(folder, "ties_"+filepath.Base(path)),
			bytes.Replace(b, []byte(`"task":"cp"`), []byte(`"task":"cp","ties":"taken"`), 1))
	}
	printed, _ := analyze(t, folder)
	for _, want := range []string{"\ngreedy: 20 runs,", "\ngreedy, ties taken: 20 runs,"} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is not said:\n%s", want, printed)
		}
	}
	if err := os.RemoveAll(filepath.Join(folder, "cp")); err != nil {
		t.Fatal(err)
	}
	if printed, _ := analyze(t, folder); !strings.Contains(printed, "\ngreedy: 20 runs,") {
		t.Errorf("where all take ties the method has no other name:\n%s", printed)
	}
}

// What makes scores or intervals worth less than they seem is said.
func TestWarnings(t *testing.T) {
	again := subset(t, "bandit/cp/offline/*.json")
	b := read(t, filepath.Join(again, "bandit/cp/offline/ei_C64_T16_K3_seed1.json"))
	write(t, filepath.Join(again, "fourth.json"), bytes.Replace(b, []byte(`"bandit_seed":1`), []byte(`"bandit_seed":4`),
		1))
	for _, c := range []struct {
		why, folder string
		args        []string
		want        string
	}{
		{"scores above the ceiling", subset(t, "cp/offline/*.json"), []string{"--ceiling", "0.5"}, "passed the ceiling"},
		{"cells at the ceiling", subset(t, "cp/offline/*.json"), []string{"--ceiling", "0.5"}, "are at it, and flatten"},
		{"a score reached at the start", subset(t, "cp/offline/*.json"), []string{"--scores", "0.1"},
			"N = 4 reaches 0.1 in 5 of 5 runs, all of them before the first call"},
		{"searches of the same seeds in two bandits", again, nil, "intervals are too narrow"},
	} {
		if printed, _ := analyze(t, c.folder, c.args...); !strings.Contains(printed, c.want) {
			t.Errorf("%s: %q is not said:\n%s", c.why, c.want, printed)
		}
	}
}

// Wrong input is one line, and exit status 2.
func TestUsage(t *testing.T) {
	for why, args := range map[string][]string{
		"samples":     {"--samples", "3"},
		"price":       {"--price", "0,-1"},
		"no price":    {"--price", "NaN,0"},
		"no ceiling":  {"--ceiling", "NaN"},
		"ceiling":     {"--ceiling", "Inf"},
		"no score":    {"--scores", "NaN"},
		"scores":      {"--scores", "a"},
		"two folders": {"testdata/none"},
	} {
		_, _, err := try(t, "testdata/results", args...)
		var usage *cli.UsageError
		if !errors.As(err, &usage) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want a UsageError of one line", why, err)
		}
	}
}

func TestWrongFolders(t *testing.T) {
	refused(t, "testdata/none", "testdata/none")
	refused(t, t.TempDir(), "no results")
}

func refused(t *testing.T, folder, want string) {
	t.Helper()
	var usage *cli.UsageError
	if _, _, err := try(t, folder); !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want a UsageError with %q", err, want)
	}
}

// subset returns a folder with some of testdata/results.
func subset(t *testing.T, patterns ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join("testdata/results", pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			name, err := filepath.Rel("testdata/results", path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(folder, name), read(t, path))
		}
	}
	return folder
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, 0o644)); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// files returns those of a folder whose names end so.
func files(t *testing.T, folder, end string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*"+end))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func table(t *testing.T, path string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(read(t, path))).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rows
}

func wellFormed(t *testing.T, path string) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(read(t, path))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s is not XML: %v", path, err)
		}
	}
}

// Whatever a result names its task, its model and its method, and whatever it says it spent, each figure is a file of its
// own, and the rest of the folder is analysed.
func TestHostileFiles(t *testing.T) {
	folder := t.TempDir()
	result := func(name, task, search, more string) {
		b, err := json.Marshal(map[string]any{"task": task, "model": "../../<m>&\x1b]0;x\a", "search": search})
		if err != nil {
			t.Fatal(err)
		}
		const rows = `{"generation": 0, "best_fitness": 0.1}, {"generation": 1, "best_fitness": 0.2}`
		write(t, filepath.Join(folder, name), []byte(strings.TrimSuffix(string(b), "}")+
			`, "T": 1, "N": 2, "seed": 1, "trajectory": [`+rows+`]`+more+`}`))
	}
	result("one.json", "=1+1", "greedy a", "")
	result("two.json", "=1+1", "greedy-a", "")
	result("long.json", strings.Repeat("t", 3000), "greedy", `, "flops_per_generation": [-1]`)
	_, out := analyze(t, folder)
	surfaces := 0
	for _, path := range files(t, out, ".svg") {
		wellFormed(t, path)
		if strings.Contains(path, "surface_greedy") {
			surfaces++
		}
	}
	if surfaces != 2 {
		t.Errorf("%d figures of the methods %q and %q, want one of each", surfaces, "greedy a", "greedy-a")
	}
	if got := table(t, filepath.Join(out, "runs.csv"))[1][0]; got != "'=1+1" {
		t.Errorf("the task is %q in runs.csv, where a spreadsheet would run it", got)
	}
}

// An earlier run that was kept under a number is not another run of its seed.
func TestEarlierRunsOfTheName(t *testing.T) {
	folder := subset(t, "cp/offline/*.json")
	paths := files(t, filepath.Join(folder, "cp", "offline"), ".json")
	path := filepath.Join(folder, "cp", "offline", filepath.Base(paths[0]))
	write(t, strings.TrimSuffix(path, ".json")+".1.json", read(t, path))
	printed, _ := analyze(t, folder)
	if !strings.Contains(printed, ".1.json: an earlier run of the name "+filepath.Base(path)) {
		t.Errorf("it does not say what it left out:\n%s", printed)
	}
}

// Figures of an earlier analysis are not left beside new ones, and other files are.
func TestFiguresOfAnEarlierAnalysis(t *testing.T) {
	_, out := analyze(t, "testdata/results")
	own := filepath.Join(out, "own.svg")
	write(t, own, []byte("<svg/>"))
	before := len(files(t, out, ".svg"))
	if _, _, err := try(t, subset(t, "cp/offline/*T4_N16_seed*.json"), "--out", out); err != nil {
		t.Fatal(err)
	}
	if now := files(t, out, ".svg"); len(now) >= before || !slices.Contains(now, own) && !slices.Contains(now, "own.svg") {
		t.Errorf("there were %d figures, and are %v", before, now)
	}
}
